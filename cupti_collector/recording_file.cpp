#include "cupti_collector/recording_file.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "simulator/trace/ilt/errors.hpp"
#include "simulator/trace/ilt/session_file.hpp"

namespace interlace::collector {

namespace {

/// Speed counts in a running program; level 1 takes a third of the time of level 3 for a tenth more bytes.
constexpr int kCompressionLevel = 1;
/// The disk is to have all before a file takes another's place. Waited for at once, gigabytes on a slow one would look
/// like a disk that hangs.
constexpr Bytes kMostUnsynced = Bytes{64} << 20;

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

}  // namespace

RecordingFile::RecordingFile(Facts facts, TraceRows::Source source)
    : facts_(std::move(facts)), source_(std::move(source)), stream_(&output_) {}

void RecordingFile::open(std::vector<trace::Device> devices) {
  const auto number = create_rank_file(facts_.folder, facts_.identity, output_);
  if (!number) {
    throw Error(kCannotCreate, facts_.folder.string(),
                "no file can be made in it: " + std::generic_category().message(errno), "check its permissions");
  }
  path_ = rank_file(facts_.folder, *number);
  trace::Rank rank;
  rank.number = *number;
  if (facts_.identity.rank == number) rank.world_size = facts_.identity.world_size;
  rank.source = path_.string();
  rank.process_id = source_.process;
  rank.host_name = host_name();
  rank.producer = facts_.producer;
  rank.run_id = facts_.run_id;
  rank.devices = std::move(devices);
  if (facts_.last > 0) {
    ring_.emplace(facts_.last, facts_.most);
    stream_.rdbuf(&*ring_);
  }
  trace::IltWriter::Options options;
  options.compression_level = kCompressionLevel;
  options.most_rows = facts_.most_rows;
  options.restarts_rows = ring_.has_value();  // it numbers what it keeps
  writer_.emplace(stream_, path_.string(), options);
  rank_ = writer_->add_rank(rank);
  rows_ = std::make_unique<TraceRows>(*writer_, rank_, source_, ledger_);
  if (!ring_) return;
  // Whatever ends the process, its file is a recording, if an empty one.
  writer_->flush();
  dump();
}

void RecordingFile::add_clock(trace::ClockSnapshot clocks) {
  clocks.rank = rank_;
  writer_->add_clock(clocks);
}

void RecordingFile::add_allocator_state(trace::AllocatorState state) {
  state.rank = rank_;
  writer_->add_allocator_state(state);
}

void RecordingFile::add_diagnostics(const Diagnostics& diagnostics) {
  if (ring_) {
    said_.merge(diagnostics);
  } else {
    writer_->add_diagnostics(diagnostics);
  }
}

void RecordingFile::add_ledger(Nanoseconds now, bool is_final) {
  trace::LedgerRow row = ledger_.row(is_final);
  row.rank = rank_;
  row.time = now;
  writer_->add_ledger(row);
}

void RecordingFile::flush(Nanoseconds now) {
  if (ring_) ring_->forget_old();
  add_ledger(now, false);
  writer_->flush();
}

void RecordingFile::abandon() noexcept {
  output_.abandon();
  fresh_.abandon();
}

void RecordingFile::dump(const std::function<void()>& progress) {
  if (!ring_) return;
  ring_->forget_diagnostics();
  writer_->add_diagnostics(said_);
  writer_->flush();
  write_ring(progress);
}

/// Puts what is kept in the file's place.
void RecordingFile::write_ring(const std::function<void()>& progress) {
  // Whoever has the file open, or reads it when this process is killed here, has the one of before.
  const std::filesystem::path fresh_path = unfinished(path_);
  std::error_code failure;
  std::filesystem::remove(fresh_path, failure);
  Bytes synced = 0;
  bool is_synced = true;
  const auto told = [&] {
    if (fresh_.size() - synced >= kMostUnsynced) {
      is_synced = fresh_.sync() && is_synced;  // it tells of what went wrong once
      synced = fresh_.size();
    }
    progress();
  };
  const bool is_written = fresh_.create(fresh_path) && ring_->write(fresh_, told) && fresh_.sync() && is_synced &&
                          std::rename(fresh_path.c_str(), path_.c_str()) == 0;
  if (!is_written) {
    const int why = errno;
    fresh_.close();
    std::filesystem::remove(fresh_path, failure);
    throw Error(kCannotCreate, path_.string(), "it cannot be written: " + std::generic_category().message(why),
                "check the space on its disk");
  }
  output_.take(fresh_);
}

void RecordingFile::close(Nanoseconds now, const std::function<void()>& progress) {
  add_ledger(now, true);
  if (!ring_) {
    writer_->close();
    close_output();
    return;
  }
  ring_->forget_old();
  writer_->flush();
  dump(progress);
  end_ring({});
}

void RecordingFile::close_output() {
  if (output_.close()) return;
  throw Error(trace::ilt::kCannotWrite, path_.string(), "closing it failed: " + std::generic_category().message(errno),
              "check its disk, and the room there");
}

void RecordingFile::end_ring(Diagnostics why) {
  close_output();
  why.count(kFlightRecorder, path_.filename().string());
  static_cast<void>(trace::seal_ilt(path_, why));
}

void RecordingFile::rescue(std::string_view why, const std::function<void()>& progress) {
  if (!ring_) return;
  // Without the writer, which may have stopped in the midst of a row.
  ring_->forget_diagnostics();
  write_ring(progress);
  Diagnostics all = said_;
  all.count(kWriteFailed, path_.filename().string() + " " + std::string(why));
  end_ring(std::move(all));
}

}  // namespace interlace::collector
