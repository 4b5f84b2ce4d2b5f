#include "simulator/replay/held_up.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "simulator/base/statistics.hpp"

namespace interlace::replay {

namespace {

using trace::OperationId;
using trace::OperationKind;
using trace::Trace;

double usual_loss(const contention::LostToMemory& lost, contention::Bound bound) {
  return bound == contention::Bound::kGather ? lost.gather : lost.streaming;
}

constexpr std::size_t kEnoughWorks = 2;

/// What these exchanges, equal but for their company, take by themselves; none where too few stand so.
std::optional<double> time_alone(std::span<const RecordedExchange* const> exchanges, const HungryKernels& kernels) {
  constexpr double kLittle = 0.1;
  std::vector<double> alone;
  for (const RecordedExchange* exchange : exchanges) {
    const auto time = static_cast<double>(exchange->span.length());
    double covered = 0;
    for (const auto& [name, k] : kernels) covered += static_cast<double>(k.busy.covered(exchange->span));
    if (covered < kLittle * time) alone.push_back(time);
  }
  if (alone.size() < kEnoughWorks) return std::nullopt;
  return statistics::median(std::move(alone));
}

/// The kernels of the name that runs longest beside an exchange, if for half of its time.
struct Company {
  const std::string* name = nullptr;
  double covered_ns = 0;
};

Company most_company(Interval span, const HungryKernels& kernels) {
  constexpr double kMostOfIt = 0.5;
  Company most;
  for (const auto& [name, k] : kernels) {
    const auto covered = static_cast<double>(k.busy.covered(span));
    if (covered < kMostOfIt * static_cast<double>(span.length()) || covered <= most.covered_ns) continue;
    most = {&name, covered};
  }
  return most;
}

}  // namespace

HungryKernels hungry_kernels(const Trace& trace) {
  struct Seen {
    contention::Bound bound;
    std::vector<Interval> spans;
  };
  std::map<std::string_view, Seen> seen;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    if (trace.kind(op) != OperationKind::kKernel) continue;
    const std::string_view name = trace.name(op);
    auto found = seen.find(name);
    if (found == seen.end()) found = seen.try_emplace(name, Seen{contention::bound_of(name), {}}).first;
    Seen& of_name = found->second;
    if (!contention::uses_up_memory(of_name.bound, static_cast<double>(trace.duration(op)))) continue;
    of_name.spans.push_back({trace.start(op), trace.end(op)});
  }
  HungryKernels kernels;
  for (auto& [name, of_name] : seen) {
    if (of_name.spans.empty()) continue;
    kernels.try_emplace(std::string(name), HungryKernel{of_name.bound, IntervalSet(std::move(of_name.spans))});
  }
  return kernels;
}

LostBeside learn_lost_beside(const HungryKernels& kernels, std::span<const RecordedExchange> exchanges) {
  constexpr double kStrongest = 0.9;
  std::map<std::pair<trace::CollectiveFunction, Bytes>, std::vector<const RecordedExchange*>> equal;
  for (const RecordedExchange& exchange : exchanges) {
    if (exchange.bytes > 0) equal[{exchange.function, exchange.bytes}].push_back(&exchange);
  }
  std::map<std::string, std::vector<double>, std::less<>> seen;
  for (const auto& [kind, same] : equal) {
    const std::optional<double> alone = time_alone(same, kernels);
    if (!alone) continue;
    for (const RecordedExchange* exchange : same) {
      const Company most = most_company(exchange->span, kernels);
      if (most.name == nullptr) continue;
      double lost = static_cast<double>(exchange->span.length()) - *alone;
      for (const auto& [name, k] : kernels) {
        if (name == *most.name) continue;
        lost -= usual_loss(exchange->usual, k.bound) * static_cast<double>(k.busy.covered(exchange->span));
      }
      seen[*most.name].push_back(std::clamp(lost / most.covered_ns, 0.0, kStrongest));
    }
  }
  LostBeside losses;
  for (const auto& [name, values] : seen) {
    if (values.size() >= kEnoughWorks) losses.emplace(name, statistics::median(values));
  }
  return losses;
}

CollectivesHeldUp::CollectivesHeldUp(const HungryKernels& kernels, const contention::LostToMemory& usual,
                                     const LostBeside& seen, const IntervalSet& copies, double to_host_copies) {
  std::map<double, std::vector<Interval>, std::greater<>> by_loss;
  const auto add = [&](double loss, const std::vector<Interval>& busy) {
    auto& spans = by_loss[loss];
    spans.insert(spans.end(), busy.begin(), busy.end());
  };
  for (const auto& [name, kernel] : kernels) {
    const auto found = seen.find(name);
    add(found != seen.end() ? found->second : usual_loss(usual, kernel.bound), kernel.busy.intervals());
  }
  add(to_host_copies, copies.intervals());
  IntervalSet stronger;
  std::vector<Interval> all;
  for (auto& [loss, spans] : by_loss) {
    all.insert(all.end(), spans.begin(), spans.end());
    by_loss_.emplace(loss, difference(IntervalSet(std::move(spans)), stronger));
    stronger = IntervalSet(all);
  }
}

double CollectivesHeldUp::lost(Interval span) const {
  double sum = 0;
  for (const auto& [loss, when] : by_loss_) sum += loss * static_cast<double>(when.covered(span));
  return sum;
}

}  // namespace interlace::replay
