#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace interlace::testing {

/// Values as pickle protocol 2 has them, to be put together. Texts are shorter than 256 bytes.
namespace pickled {

inline std::string text(std::string_view value) {
  std::string bytes("U");
  return bytes.append(1, static_cast<char>(value.size())).append(value);
}
inline std::string integer(std::int64_t value) { return std::to_string(value).insert(0, 1, 'L').append("L\n"); }
inline std::string boolean(bool value) { return value ? "\x88" : "\x89"; }
inline std::string list(const std::vector<std::string>& items) {
  std::string bytes("](");
  for (const std::string& item : items) bytes += item;
  return bytes += "e";
}
inline std::string dict(const std::vector<std::pair<std::string_view, std::string>>& entries) {
  std::string bytes("}(");
  for (const auto& [key, value] : entries) bytes.append(text(key)).append(value);
  return bytes += "u";
}

}  // namespace pickled

/// Writes a small allocator snapshot. Times in microseconds.
class SnapshotPickle {
 public:
  explicit SnapshotPickle(int devices = 1) : events_(static_cast<std::size_t>(devices)) {}

  SnapshotPickle& event(std::string_view action, std::int64_t address, std::int64_t size, std::int64_t stream,
                        std::int64_t time_us, int device = 0) {
    return raw_event(pickled::dict({{"action", pickled::text(action)},
                                    {"addr", pickled::integer(address)},
                                    {"size", pickled::integer(size)},
                                    {"stream", pickled::integer(stream)},
                                    {"time_us", pickled::integer(time_us)}}),
                     device);
  }
  SnapshotPickle& raw_event(std::string pickle, int device = 0) {
    events_[static_cast<std::size_t>(device)].push_back(std::move(pickle));
    return *this;
  }

  struct Block {
    std::int64_t size = 0;
    std::string_view state = "active_allocated";
  };
  /// A segment of the large pool, filled by blocks.
  SnapshotPickle& segment(std::int64_t address, std::int64_t stream, std::initializer_list<Block> blocks,
                          int device = 0) {
    std::vector<std::string> pickles;
    std::int64_t next = address;
    for (const Block& block : blocks) {
      pickles.push_back(pickled::dict({{"address", pickled::integer(next)},
                                       {"size", pickled::integer(block.size)},
                                       {"requested_size", pickled::integer(block.size - 1)},
                                       {"state", pickled::text(block.state)}}));
      next += block.size;
    }
    return raw_segment(pickled::dict({{"device", pickled::integer(device)},
                                      {"address", pickled::integer(address)},
                                      {"total_size", pickled::integer(next - address)},
                                      {"stream", pickled::integer(stream)},
                                      {"segment_type", pickled::text("large")},
                                      {"blocks", pickled::list(pickles)}}));
  }
  SnapshotPickle& raw_segment(std::string pickle) {
    segments_.push_back(std::move(pickle));
    return *this;
  }
  SnapshotPickle& annotation(std::string_view name, std::string_view stage, std::int64_t time_us, int device = 0) {
    marks_.push_back(pickled::dict({{"device", pickled::integer(device)},
                                    {"name", pickled::text(name)},
                                    {"stage", pickled::text(stage)},
                                    {"time_us", pickled::integer(time_us)}}));
    return *this;
  }
  /// A field of allocator_settings.
  SnapshotPickle& setting(std::string_view name, std::string pickle) {
    settings_.emplace_back(name, std::move(pickle));
    return *this;
  }

  [[nodiscard]] std::string bytes() const {
    std::vector<std::string> traces;
    for (const auto& of_device : events_) traces.push_back(pickled::list(of_device));
    return std::string("\x80\x02")
        .append(pickled::dict({{"segments", pickled::list(segments_)},
                               {"device_traces", pickled::list(traces)},
                               {"allocator_settings", pickled::dict(settings_)},
                               {"external_annotations", pickled::list(marks_)}}))
        .append(".");
  }

 private:
  std::vector<std::vector<std::string>> events_;
  std::vector<std::string> segments_;
  std::vector<std::string> marks_;
  std::vector<std::pair<std::string_view, std::string>> settings_;
};

}  // namespace interlace::testing
