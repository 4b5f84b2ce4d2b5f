#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::gui {

/// A trace of one rank, made operation by operation in the order of the test.
class SmallTrace {
 public:
  SmallTrace() : rank_(builder_.add_rank({.number = 0, .source = "some/folder/r0.json"})) {}

  trace::LaneId stream(std::int64_t number, std::string_view name = {}) {
    const trace::LaneId lane = builder_.lane(trace::LaneKind::kStream, rank_, 0, number);
    if (!name.empty()) builder_.name_lane(lane, name);
    return lane;
  }
  trace::LaneId thread(std::int64_t number) { return builder_.lane(trace::LaneKind::kHostThread, rank_, 1, number); }

  void kernel(trace::LaneId on, std::string_view name, Nanoseconds begin, Nanoseconds end,
              std::optional<std::int64_t> correlation = {}) {
    builder_.add_kernel({on, builder_.intern(name), begin, end - begin, correlation}, {});
  }
  void call(trace::LaneId on, std::string_view name, Nanoseconds begin, Nanoseconds end,
            std::optional<std::int64_t> correlation = {}) {
    builder_.add_host_call({on, builder_.intern(name), begin, end - begin, correlation});
  }
  void annotation(trace::LaneId on, std::string_view name, Nanoseconds begin, Nanoseconds end) {
    builder_.add_range({on, builder_.intern(name), begin, end - begin, {}}, {.kind = trace::RangeKind::kAnnotation});
  }

  trace::TraceBuilder& builder() { return builder_; }
  [[nodiscard]] trace::Trace build() {
    Diagnostics counted;
    return std::move(builder_).build(counted);
  }

 private:
  trace::TraceBuilder builder_;
  trace::RankId rank_;
};

/// The first operation of this name.
inline trace::OperationId named(const trace::Trace& trace, std::string_view name) {
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace.name({i}) == name) return {i};
  }
  throw std::runtime_error("no such operation: " + std::string(name));
}

}  // namespace interlace::gui
