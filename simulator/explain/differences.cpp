#include "simulator/explain/differences.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "simulator/explain/alignment.hpp"

namespace interlace::explain {

namespace {

using graph::EdgeKind;

/// What the time before a device work was spent on.
Cause cause_before(const PathElement& element) {
  if (element.unexplained) return Cause::kUnexplained;
  return element.bound_by == EdgeKind::kLaunch ? Cause::kHost : Cause::kStart;
}

/// What a way between two common works spent its time on.
struct WayContent {
  std::array<double, kCauses> spent{};
  std::array<const PathElement*, kCauses> longest{};

  void add(Cause cause, const PathElement& element, Nanoseconds time) {
    const auto at = static_cast<std::size_t>(cause);
    spent[at] += static_cast<double>(time);
    if (longest[at] == nullptr || longest[at]->total() < element.total()) longest[at] = &element;
  }
};

/// Device work counts as what it does to the end of its way: it stands in front on the same stream, or something
/// behind it in its chain is waited for across streams or ranks, or by the host.
WayContent content_of(std::span<const PathElement> way, const PathElement* end) {
  WayContent content;
  Cause link = Cause::kOrder;
  const PathElement* next = end;
  for (auto element = way.rbegin(); element != way.rend(); next = &*element, ++element) {
    if (next != nullptr) {
      switch (next->bound_by) {
        case EdgeKind::kEventWait:
        case EdgeKind::kRendezvous: link = Cause::kWaits; break;
        case EdgeKind::kHostSync:
        case EdgeKind::kBlockingCopy: link = Cause::kHost; break;
        default: break;
      }
    }
    if (element->host) {
      content.add(element->unexplained ? Cause::kUnexplained : Cause::kHost, *element, element->total());
      continue;
    }
    content.add(link, *element, element->in);
    content.add(cause_before(*element), *element, element->before);
  }
  return content;
}

double length_of(std::span<const PathElement> way) {
  double length = 0;
  for (const PathElement& element : way) length += static_cast<double>(element.total());
  return length;
}

}  // namespace

void PathDifference::add_common(const PathElement& measured, const PathElement& predicted, double weight,
                                PartTimes& parts) const {
  const auto put = [&](Cause cause, Nanoseconds time) {
    if (time != 0) {
      parts[{cause, stage(measured), stage(measured), operation(measured)}] += static_cast<double>(time) * weight;
    }
  };
  put(measured.host ? Cause::kHost : Cause::kDurations, predicted.in - measured.in);
  const PathElement& later = predicted.before > measured.before ? predicted : measured;
  put(measured.host ? Cause::kHost : cause_before(later), predicted.before - measured.before);
}

/// Device work of the longer way that takes longer than in the other run, the largest first. Returns how much of
/// `at_most` that explains.
double PathDifference::add_growth(Way way, std::span<const NameTimes> here, std::span<const NameTimes> there,
                                  double at_most, double weight, PartTimes& parts) const {
  struct Growth {
    double time = 0;
    const PathElement* element = nullptr;
  };
  std::vector<Growth> grown;
  for (const PathElement& element : way) {
    const std::size_t name = element.name.index();
    if (element.host || here[name].works == 0 || there[name].works == 0) continue;
    // No more than its time on the path.
    const double growth = std::min(here[name].own_ns - there[name].own_ns, static_cast<double>(element.in));
    if (growth > 0) grown.push_back({growth, &element});
  }
  std::ranges::stable_sort(grown, std::ranges::greater{}, &Growth::time);
  double left = at_most;
  for (const Growth& one : grown) {
    const double taken = std::min(left, one.time);
    if (taken <= 0) break;
    parts[{Cause::kDurations, stage(*one.element), stage(*one.element), operation(*one.element)}] += taken * weight;
    left -= taken;
  }
  return at_most - left;
}

void PathDifference::add_ways(Way measured, Way predicted, const PathElement* measured_end,
                              const PathElement* predicted_end, double weight, PartTimes& parts) const {
  const double difference = length_of(predicted) - length_of(measured);
  if (difference == 0) return;
  const bool longer = difference > 0;  // the predicted way
  const double sign = longer ? weight : -weight;
  const double explained = longer ? add_growth(predicted, predicted_times_, measured_times_, difference, sign, parts)
                                  : add_growth(measured, measured_times_, predicted_times_, -difference, sign, parts);
  const double rest = std::abs(difference) - explained;
  if (rest <= 0) return;
  const WayContent of_predicted = content_of(predicted, predicted_end);
  const WayContent of_measured = content_of(measured, measured_end);
  const WayContent& most = longer ? of_predicted : of_measured;
  const WayContent& least = longer ? of_measured : of_predicted;
  std::size_t cause = 0;
  for (std::size_t i = 1; i < kCauses; ++i) {
    if (most.spent[i] - least.spent[i] > most.spent[cause] - least.spent[cause]) cause = i;
  }
  const PathElement& subject = *most.longest[cause];
  const PathElement* end = longer ? predicted_end : measured_end;
  parts[{static_cast<Cause>(cause), stage(end == nullptr ? subject : *end), stage(subject), operation(subject)}] +=
      rest * sign;
}

void PathDifference::add(const StepPath& measured, const StepPath& predicted, double weight, PartTimes& parts) const {
  std::size_t i = 0;
  std::size_t j = 0;
  for (const auto& [a, b] : common_elements(measured, predicted)) {
    add_ways(Way(measured).subspan(i, a - i), Way(predicted).subspan(j, b - j), &measured[a], &predicted[b], weight,
             parts);
    add_common(measured[a], predicted[b], weight, parts);
    i = a + 1;
    j = b + 1;
  }
  add_ways(Way(measured).subspan(i), Way(predicted).subspan(j), nullptr, nullptr, weight, parts);
}

}  // namespace interlace::explain
