#include "cupti_collector/record/recorded_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>

#include "cupti_collector/control_file.hpp"
#include "cupti_collector/file_output.hpp"

namespace interlace::collector {

namespace {

namespace fs = std::filesystem;

/// "rank7.ilt"
bool is_rank_file(const fs::path& path) {
  const std::string name = path.filename().string();
  constexpr std::string_view kBegin = "rank";
  constexpr std::string_view kEnd = ".ilt";
  if (name.size() <= kBegin.size() + kEnd.size() || !name.starts_with(kBegin) || !name.ends_with(kEnd)) return false;
  const std::string_view digits =
      std::string_view(name).substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  return std::ranges::all_of(digits, [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::vector<fs::path> rank_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure); !failure && entry != fs::directory_iterator();
       entry.increment(failure)) {
    if (is_rank_file(entry->path())) files.push_back(entry->path());
  }
  // By number: a longer name is a greater one.
  std::ranges::sort(files, {}, [](const fs::path& file) { return std::pair(file.native().size(), file.native()); });
  return files;
}

/// Whether a living process holds the file, as FileOutput does. NFS locks only what is open for writing; a file system
/// that has no locks holds nothing.
bool is_locked(const fs::path& file) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool is_held = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);
  return is_held;
}

/// What a process said of its file.
std::string write_failure_of(const fs::path& path, const std::vector<LogLine>& log) {
  const std::string begin = path.filename().string() + ": ";
  for (const LogLine& line : log) {
    if (line.kind == "failed" && line.text.starts_with(begin)) return line.text.substr(begin.size());
  }
  return {};
}

/// Up to when a file has the account of its recording; none where it has none or cannot be read.
std::optional<Nanoseconds> time_reached(const fs::path& file) {
  try {
    const trace::SessionFacts facts = trace::read_session(file);
    const auto last = std::ranges::max_element(facts.ledger, {}, &trace::LedgerRow::time);
    return last == facts.ledger.end() ? std::nullopt : std::optional(last->time);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// What was to take the file's place when its process ended: it does so where it has more of the program's end. A part
/// of it is a recording as well.
void settle_unfinished(const fs::path& path) {
  const fs::path fresh = unfinished(path);
  std::error_code failure;
  if (!fs::exists(fresh, failure)) return;
  if (time_reached(fresh) > time_reached(path)) fs::rename(fresh, path, failure);
  fs::remove(fresh, failure);
}

RecordedFile close_file(const fs::path& path, const std::vector<LogLine>& log) {
  RecordedFile file;
  file.write_failure = write_failure_of(path, log);
  file.path = path;
  file.is_in_use = is_locked(path);
  if (!file.is_in_use) settle_unfinished(path);
  try {
    file.facts = trace::read_session(path);
    const bool has_no_end = !file.facts.is_ended && !file.is_in_use;
    file.ended_abruptly = has_no_end && file.write_failure.empty();
    if (has_no_end) {
      Diagnostics why;
      const std::string name = path.filename().string();
      if (file.ended_abruptly) {
        why.count(kEndedAbruptly, name);
      } else {
        why.count(kWriteFailed, name + " " + file.write_failure);
      }
      static_cast<void>(trace::seal_ilt(path, why));
    }
  } catch (const Error& error) {
    file.problem = error.problem();
  }
  return file;
}

}  // namespace

bool RecordedFile::is_whole() const {
  const bool is_closed = std::ranges::all_of(facts.ledger, &trace::LedgerRow::is_closed);
  const bool has_end = !is_in_use && !ended_abruptly && write_failure.empty();
  return problem.empty() && has_end && is_closed && !facts.ledger.empty();
}

fs::path prepare_folder(const fs::path& folder, bool overwrite) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  fs::path absolute = fs::absolute(folder, failure);
  if (failure || access(folder.c_str(), W_OK | X_OK) != 0) {
    throw Error(kCannotMakeFolder, folder.string(), "no recording can be written there",
                "name a folder that may be made and written to with --out");
  }
  const std::vector<fs::path> old = rank_files(absolute);
  if (!old.empty() && !overwrite) {
    throw Error(kFolderInUse, folder.string(), "it holds a recording already",
                "name another folder with --out, or replace it with --overwrite");
  }
  if (std::ranges::any_of(old, is_locked)) {
    throw Error(kFolderInUse, folder.string(), "a process still records into it", "name another folder with --out");
  }
  for (const fs::path& file : old) {
    fs::remove(file, failure);
    fs::remove(unfinished(file), failure);
  }
  // Of a launcher that was killed: its last word is not for this recording.
  fs::remove(session_log_file(absolute), failure);
  ControlFile::remove(absolute);
  return absolute;
}

std::vector<RecordedFile> close_files(const fs::path& folder, const std::vector<LogLine>& log) {
  std::vector<RecordedFile> files;
  for (const fs::path& path : rank_files(folder)) files.push_back(close_file(path, log));
  return files;
}

}  // namespace interlace::collector
