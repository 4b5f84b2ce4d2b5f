#include "simulator/replay/long_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>

namespace interlace::replay {

namespace {

constexpr double kWorthCounting = 0.03;  // of the recorded time; recordings of TorchRec jobs have at most 0.004

/// What calls of a rank took beyond the host time that they are replayed with.
struct BeyondOwnTime {
  Nanoseconds all = 0;
  std::int64_t calls = 0;
  Nanoseconds longest = 0;
  std::optional<trace::OperationId> longest_call;

  void add(const trace::Trace& trace, const RecordedCall& call, std::span<const RecordedWork> works) {
    // What blocks until the device is done is replayed as that.
    const bool blocks = call.synchronises || std::ranges::any_of(works, &RecordedWork::blocks_host);
    const Nanoseconds beyond = call.call && !blocks ? trace.duration(*call.call) - call.duration : 0;
    if (beyond <= 0) return;
    all += beyond;
    ++calls;
    if (beyond <= longest) return;
    longest = beyond;
    longest_call = call.call;
  }
};

}  // namespace

void count_long_calls(const trace::Trace& trace, const stages::Cut& cut, const SiteTable& table,
                      Diagnostics& diagnostics) {
  for (std::size_t r = 0; r < table.ranks.size(); ++r) {
    BeyondOwnTime beyond;
    Nanoseconds recorded = 0;
    for (std::uint32_t i = 0; i < table.ranks[r].size(); ++i) {
      if (table.left_out.contains(i)) continue;
      recorded += cut.ranks[r].iterations[i].host.length();
      const RecordedIteration& iteration = table.ranks[r][i];
      for (const RecordedCall& call : iteration.calls) {
        beyond.add(trace, call, std::span(iteration.works).subspan(call.first_work, call.works));
      }
    }
    const double part = recorded > 0 ? static_cast<double>(beyond.all) / static_cast<double>(recorded) : 0;
    if (part <= kWorthCounting) continue;
    const std::string where =
        fmt::format("rank {}: {:.1f} % of its time, the longest a {}", trace.ranks()[cut.ranks[r].rank.index()].number,
                    100 * part, trace.name(*beyond.longest_call));
    diagnostics.count(kLongCalls, where, beyond.calls);
  }
}

}  // namespace interlace::replay
