#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "simulator/ingest/errors.hpp"
#include "simulator/ingest/memory_snapshot/flaws.hpp"
#include "simulator/ingest/memory_snapshot/settings.hpp"
#include "simulator/ingest/memory_snapshot/snapshot.hpp"
#include "simulator/ingest/pickle/read_pickle.hpp"

namespace interlace::ingest::memory_snapshot {

namespace {

using pickle::Value;
using trace::AllocationAction;
using trace::BlockState;

/// Of one block; no machine has more.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 48U;
/// Of all blocks and events together, so that no sum of them leaves int64.
constexpr Bytes kMostBytesInAll = Bytes{1} << 62U;
/// Bytes of the pickle that an event, block, segment or annotation takes at least. One that takes less stands at many
/// places through the memo: the few bytes of such a file could ask for any amount of memory here.
constexpr std::size_t kLeastBytesOfEntry = 8;
/// And that an element of those takes: two instructions. Looking an entry through takes time by its elements, so a
/// large dictionary that stands at many places could keep this reader busy for hours.
constexpr std::size_t kLeastBytesOfElement = 2;
/// What is kept of the name of an action that is not known.
constexpr std::size_t kLongestAction = 48;

std::optional<Bytes> bytes_of(const std::optional<Value>& value) {
  const auto number = value ? value->unsigned_integer() : std::nullopt;
  return number && *number <= kMostBytes ? std::optional(static_cast<Bytes>(*number)) : std::nullopt;
}

/// An address or handle. LibTorch writes those above 2^63 as negative numbers.
std::optional<std::uint64_t> word_of(const std::optional<Value>& value) {
  if (!value) return std::nullopt;
  if (const auto negative = value->integer()) return static_cast<std::uint64_t>(*negative);
  return value->unsigned_integer();
}

/// Nanoseconds of a time in microseconds, where it is one that a clock can give (docs/ilt_format.md, limits).
std::optional<Nanoseconds> time_of(const std::optional<Value>& value) {
  static constexpr Nanoseconds kLimit = 3'000'000'000'000'000'000;
  const auto microseconds = value ? value->integer() : std::nullopt;
  if (!microseconds || *microseconds < 0 || *microseconds > kLimit / kMicrosecond) return std::nullopt;
  return *microseconds * kMicrosecond;
}

std::optional<AllocationAction> action_of(std::string_view name) {
  static constexpr std::pair<std::string_view, AllocationAction> kActions[] = {
      {"alloc", AllocationAction::kAlloc},
      {"free_requested", AllocationAction::kFreeRequested},
      {"free_completed", AllocationAction::kFreeCompleted},
      {"free", AllocationAction::kFree},
      {"segment_alloc", AllocationAction::kSegmentAlloc},
      {"segment_free", AllocationAction::kSegmentFree},
      {"segment_map", AllocationAction::kSegmentMap},
      {"segment_unmap", AllocationAction::kSegmentUnmap},
      {"oom", AllocationAction::kOutOfMemory},
  };
  const auto* const known = std::ranges::find(kActions, name, &std::pair<std::string_view, AllocationAction>::first);
  return known == std::end(kActions) ? std::nullopt : std::optional(known->second);
}

std::optional<BlockState> block_state(std::string_view name) {
  if (name == "active_allocated") return BlockState::kAllocated;
  if (name == "active_pending_free" || name == "active_awaiting_free") return BlockState::kPendingFree;
  if (name == "inactive") return BlockState::kFree;
  return std::nullopt;
}

class SnapshotDecoder {
 public:
  SnapshotDecoder(const std::filesystem::path& file) : place_(file.string()) { snapshot_.file = file; }

  Snapshot decode(std::string_view bytes) {
    const pickle::Tree tree = pickle::read_pickle(bytes, place_);
    snapshot_.diagnostics.count(kTrailingBytes, place_, static_cast<std::int64_t>(bytes.size() - tree.bytes_used()));
    entries_left_ = bytes.size() / kLeastBytesOfEntry;
    elements_left_ = bytes.size() / kLeastBytesOfElement;
    const auto segments = tree.root().find("segments");
    const auto traces = tree.root().find("device_traces");
    if (!segments || !traces || segments->kind() != pickle::Kind::kList || traces->kind() != pickle::Kind::kList) {
      refuse("a pickle, but not of PyTorch's memory: it lacks segments or device_traces");
    }
    for (const Value segment : *segments) add_segment(segment);
    std::int64_t device = 0;
    for (const Value events : *traces) add_events(events, device++);
    if (const auto marks = tree.root().find("external_annotations")) {
      for (const Value mark : *marks) add_mark(mark);
    }
    if (const auto settings = tree.root().find("allocator_settings")) snapshot_.settings = settings_text(*settings);
    count_unused();
    for (auto& [ordinal, of_device] : devices_) {
      if (of_device.segments.empty() && of_device.events.empty()) continue;
      std::ranges::sort(of_device.segments, {}, &trace::AllocatorSegment::address);
      snapshot_.devices.push_back(std::move(of_device));
    }
    return std::move(snapshot_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    throw Error(kNotASnapshot, place_, std::string(what), "name what torch.cuda.memory._dump_snapshot wrote");
  }

  /// Accounts for an entry, before it is looked through.
  void spend(const Value& entry) {
    if (entries_left_ == 0 || elements_left_ < entry.size()) refuse("a pickle that repeats a few entries without end");
    --entries_left_;
    elements_left_ -= entry.size();
  }
  void account_for(Bytes bytes) {
    bytes_in_all_ += bytes;
    if (bytes_in_all_ > kMostBytesInAll) refuse("a pickle that speaks of more memory than there is");
  }

  DeviceSnapshot& at(std::int64_t ordinal) {
    DeviceSnapshot& device = devices_[ordinal];
    device.device = ordinal;
    return device;
  }

  void malformed(std::string_view what, std::size_t number) {
    snapshot_.diagnostics.count(kMalformedEntry, fmt::format("{}: {} {}", place_, what, number));
  }

  void add_segment(const Value& value) {
    spend(value);
    const std::size_t number = segments_++;
    const auto device = value.find("device");
    const auto ordinal = device ? device->integer() : std::nullopt;
    const auto address = word_of(value.find("address"));
    const auto bytes = bytes_of(value.find("total_size"));
    const auto stream = word_of(value.find("stream"));
    const auto blocks = value.find("blocks");
    if (!ordinal || !address || !bytes || !stream || !blocks) return malformed("segment", number);
    account_for(*bytes);
    trace::AllocatorSegment segment{.address = *address, .bytes = *bytes, .stream_handle = *stream};
    if (const auto type = value.find("segment_type")) segment.is_large = type->text() == "large";
    if (const auto expandable = value.find("is_expandable")) {
      segment.is_expandable = expandable->boolean().value_or(false);
    }
    if (const auto pool = value.find("segment_pool_id"); pool && pool->size() == segment.pool.size()) {
      std::transform(pool->begin(), pool->end(), segment.pool.begin(),
                     [](Value id) { return word_of(id).value_or(0); });
    }
    add_blocks(*blocks, number, segment);
    at(*ordinal).segments.push_back(std::move(segment));
  }

  void add_blocks(const Value& blocks, std::size_t number, trace::AllocatorSegment& segment) {
    std::uint64_t next = segment.address;
    bool fits = true;
    for (const Value value : blocks) {
      spend(value);
      const auto bytes = bytes_of(value.find("size"));
      const auto state = value.find("state");
      if (!bytes || !state) {
        malformed("block of segment", number);
        continue;
      }
      auto known = block_state(state->text().value_or(""));
      if (!known) snapshot_.diagnostics.count(kUnknownState, place_);
      // PyTorch before 2.1 does not say where a block begins; it is where the one before ends.
      trace::AllocatorBlock block{.address = word_of(value.find("address")).value_or(next),
                                  .bytes = *bytes,
                                  .requested = bytes_of(value.find("requested_size")).value_or(*bytes),
                                  .state = known.value_or(BlockState::kAllocated)};
      account_for(block.bytes);
      fits = fits && block.address == next;
      next = block.address + static_cast<std::uint64_t>(block.bytes);
      segment.blocks.push_back(block);
    }
    fits = fits && next == segment.address + static_cast<std::uint64_t>(segment.bytes);
    if (!fits) snapshot_.diagnostics.count(kBlocksDoNotFit, fmt::format("{}: segment {}", place_, number));
  }

  void add_events(const Value& events, std::int64_t ordinal) {
    if (events.size() == 0) return;
    DeviceSnapshot& device = at(ordinal);
    device.events.reserve(events.size());
    std::size_t number = 0;
    for (const Value event : events) add_event(event, number++, device);
  }

  void add_event(const Value& value, std::size_t number, DeviceSnapshot& device) {
    spend(value);
    EventFields fields;
    bool is_key = true;
    for (const Value item : value) {
      if (is_key) {
        fields.key = item.text().value_or("");
      } else {
        fields.take(item);
      }
      is_key = !is_key;
    }
    frames_ += fields.frames;
    const auto action = action_of(fields.action);
    if (!action) {
      // A long text that many events share is not to be copied for each.
      ++unused_[fields.action.empty() ? "none" : std::string(fields.action.substr(0, kLongestAction))];
      return;
    }
    if (*action == AllocationAction::kOutOfMemory && !fields.address) fields.address = 0;
    if (!fields.address || !fields.bytes || !fields.stream || !fields.time) {
      malformed(fmt::format("event of device {}, number", device.device), number);
      return;
    }
    account_for(*fields.bytes);
    device.events.push_back({*action, *fields.address, *fields.bytes, *fields.stream, *fields.time});
  }

  /// What an event's dictionary has of use; it may have keys of other PyTorch versions.
  struct EventFields {
    std::string_view key;
    std::string_view action;
    std::optional<std::uint64_t> address;
    std::optional<Bytes> bytes;
    std::optional<std::uint64_t> stream;
    std::optional<Nanoseconds> time;
    std::int64_t frames = 0;

    void take(const Value& value) {
      if (key == "action") {
        action = value.text().value_or("");
      } else if (key == "addr") {
        address = word_of(value);
      } else if (key == "size") {
        bytes = bytes_of(value);
      } else if (key == "stream") {
        stream = word_of(value);
      } else if (key == "time_us") {
        time = time_of(value);
      } else if (key == "frames") {
        frames = static_cast<std::int64_t>(value.size());
      }
    }
  };

  void add_mark(const Value& value) {
    spend(value);
    const std::size_t number = marks_++;
    const auto device = value.find("device");
    const auto ordinal = device ? device->integer() : std::nullopt;
    const auto known = ordinal ? devices_.find(*ordinal) : devices_.end();
    const auto name = value.find("name");
    const auto stage = value.find("stage");
    const auto time = time_of(value.find("time_us"));
    const std::string_view end = stage ? stage->text().value_or("") : "";
    if (known == devices_.end() || !name || !name->text() || !time || (end != "START" && end != "END")) {
      return malformed("annotation", number);
    }
    known->second.marks.push_back({name_number(*name), *time, end == "START"});
  }

  /// Of a text. One that the pickle shares is looked at once, however often and long it is.
  std::size_t name_number(const Value& name) {
    const auto [at, is_new] = name_of_value_.try_emplace(name.index(), 0);
    if (is_new) {
      const auto [known, is_new_text] = name_of_text_.try_emplace(std::string(*name.text()), snapshot_.names.size());
      if (is_new_text) snapshot_.names.push_back(known->first);
      at->second = known->second;
    }
    return at->second;
  }

  void count_unused() {
    snapshot_.diagnostics.count(kStackFrames, place_, frames_);
    // A damaged file may name actions without end; only so many are told apart.
    static constexpr std::size_t kMostActions = 16;
    for (const auto& [action, count] : unused_) {
      std::string code(kUnusedEvent.code);
      if (snapshot_.diagnostics.entries().size() < kMostActions) {
        code.append(".").append(action);
        std::ranges::replace(code, ' ', '_');
      }
      snapshot_.diagnostics.add({std::move(code), kUnusedEvent.severity, std::string(kUnusedEvent.meaning),
                                 std::string(kUnusedEvent.advice), count, place_});
    }
  }

  std::string place_;
  Snapshot snapshot_;
  std::map<std::int64_t, DeviceSnapshot> devices_;
  std::map<std::string, std::int64_t> unused_;                    ///< events by action
  std::unordered_map<std::uint32_t, std::size_t> name_of_value_;  ///< by its number in the pickle
  std::unordered_map<std::string, std::size_t> name_of_text_;
  std::size_t entries_left_ = 0;
  std::size_t elements_left_ = 0;
  Bytes bytes_in_all_ = 0;
  std::int64_t frames_ = 0;
  std::size_t segments_ = 0;
  std::size_t marks_ = 0;
};

}  // namespace

Snapshot decode_snapshot(std::string_view pickle, const std::filesystem::path& file) {
  return SnapshotDecoder(file).decode(pickle);
}

}  // namespace interlace::ingest::memory_snapshot
