#include "simulator/what_if/apply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "simulator/base/pattern.hpp"
#include "simulator/base/statistics.hpp"
#include "simulator/contention/slowdown.hpp"
#include "simulator/replay/command_queues.hpp"
#include "simulator/schedule/step_checks.hpp"
#include "simulator/what_if/parse.hpp"

namespace interlace::what_if {

namespace {

using replay::RecordedCall;
using replay::RecordedIteration;
using replay::Site;
using replay::SiteId;
using replay::SiteTable;
using replay::WorkKind;

/// A collective holds this many SMs where none was recorded to tell: NCCL's usual number of channels.
constexpr std::int32_t kUsualCtas = 16;
constexpr double kUsualBlockTime = 20'000;

/// Between works of one CUDA graph, on average: of five models on an H200 0.44 to 0.52 us, where eager launches
/// leave 1.6 to 2.1 us (docs/benchmarks/graph_capture).
constexpr double kGapInGraph = 450;

/// More than a step may take with all that is in it: eleven days, with which the times of a run of a thousand steps
/// still fit into 64 bits. The largest number of one edit takes a step of a second there.
constexpr double kLongestStep = 1e15;

double at_least_one(double ns) { return std::max(1.0, ns); }

void scale_time(Site& site, double by) {
  site.alone_ns = at_least_one(site.alone_ns * by);
  for (double& ns : site.transfer_ns) ns = at_least_one(ns * by);
}

/// Scales the sites that `concerns` picks; true where there was one. What only keeps an order takes no time.
template <class Concerns>
bool scale_sites(SiteTable& table, double by, Concerns concerns) {
  bool any = false;
  for (Site& site : table.sites) {
    if (site.alone_ns == 0 || !concerns(site)) continue;
    scale_time(site, by);
    any = true;
  }
  return any;
}

/// The part of a transfer's time that bandwidth does not change: what is left of the smallest transfer's time when its
/// bytes are charged at the rate of the largest. 0 where there are none. `sites`: those of known size.
double latency_of(const std::vector<const Site*>& sites) {
  if (sites.empty()) return 0;
  const auto by_bytes = [](const Site* a, const Site* b) { return a->bytes < b->bytes; };
  const auto [least, most] = std::ranges::minmax_element(sites, by_bytes);
  const double ns_per_byte = (*most)->alone_ns / static_cast<double>((*most)->bytes);
  return std::max(0.0, (*least)->alone_ns - static_cast<double>((*least)->bytes) * ns_per_byte);
}

/// Gives the link that all work of this kind crosses `by` times the bandwidth; true where there was such work.
bool scale_bandwidth(SiteTable& table, WorkKind kind, double by) {
  std::vector<const Site*> sized;
  for (const Site& site : table.sites) {
    if (site.kind == kind && site.bytes > 0) sized.push_back(&site);
  }
  const double latency = latency_of(sized);
  bool any = false;
  for (Site& site : table.sites) {
    if (site.kind != kind) continue;
    any = true;
    const auto faster = [&](double ns) {
      const double fixed = site.bytes > 0 ? std::min(latency, ns) : 0.0;
      return at_least_one(ns - (ns - fixed) * (1.0 - 1.0 / by));  // to the bit the same where nothing changes
    };
    site.alone_ns = faster(site.alone_ns);
    for (double& ns : site.transfer_ns) ns = faster(ns);
  }
  return any;
}

template <class Visit>
void for_each_iteration(SiteTable& table, Visit visit) {
  for (auto& iterations : table.ranks) {
    for (RecordedIteration& iteration : iterations) visit(iteration);
  }
}

/// Makes one launch of all that the calls of a segment of this stage put on the device. The calls stay, without time:
/// others may refer to them. False where there is no such work.
bool capture(RecordedIteration& iteration, schedule::Stage stage, Nanoseconds launch) {
  std::map<stages::SegmentKey, std::vector<replay::RecordedWork>> captured;
  for (const RecordedCall& call : iteration.calls) {
    if (call.segment.stage != stage) continue;
    std::vector<replay::RecordedWork>& works = captured[call.segment];
    std::copy_n(iteration.works.begin() + call.first_work, call.works, std::back_inserter(works));
  }
  std::erase_if(captured, [](const auto& segment) { return segment.second.empty(); });
  if (captured.empty()) return false;
  const std::vector<replay::RecordedWork> as_recorded = std::exchange(iteration.works, {});
  std::set<stages::SegmentKey> launched;
  for (RecordedCall& call : iteration.calls) {
    const auto first_work = static_cast<std::uint32_t>(iteration.works.size());
    const auto segment = captured.find(call.segment);
    if (segment == captured.end()) {
      std::copy_n(as_recorded.begin() + call.first_work, call.works, std::back_inserter(iteration.works));
    } else {
      const bool launches = launched.insert(call.segment).second;
      if (launches) std::ranges::copy(segment->second, std::back_inserter(iteration.works));
      call.gap = 0;
      call.duration = launches ? launch : 0;
    }
    call.first_work = first_work;
    call.works = static_cast<std::uint32_t>(iteration.works.size()) - first_work;
  }
  return true;
}

/// Carries out one edit; false where it concerns nothing.
struct Apply {
  SiteTable* table;
  const std::string* place;  ///< of the edit

  bool operator()(const ScaleStage& e) const {
    return scale_sites(*table, e.by, [&](const Site& site) { return site.segment.stage == e.stage; });
  }

  bool operator()(const ScaleKernels& e) const {
    const Pattern pattern(e.pattern);
    return scale_sites(*table, e.by, [&](const Site& site) {
      const bool kernel = site.kind == WorkKind::kKernel || site.kind == WorkKind::kCollective;
      return kernel && pattern.is_in(site.name);
    });
  }

  bool operator()(const ScaleKind& e) const {
    return scale_sites(*table, e.by, [&](const Site& site) { return site.kind == e.kind; });
  }

  bool operator()(const ScaleLink& e) const {
    const bool collectives = (e.link == Link::kHost) == table->collectives_cross_host;
    const bool any_collective = collectives && scale_bandwidth(*table, WorkKind::kCollective, e.by);
    const bool any_copy = e.link == Link::kHost && scale_bandwidth(*table, WorkKind::kHostCopy, e.by);
    return any_collective || any_copy;
  }

  bool operator()(const ScaleHost& e) const {
    bool any = false;
    const auto scaled = [&](Nanoseconds ns) {
      // What is cut here is refused anyway (refuse_absurd_times).
      return static_cast<Nanoseconds>(std::llround(std::min(static_cast<double>(ns) * e.by, 2 * kLongestStep)));
    };
    for_each_iteration(*table, [&](RecordedIteration& iteration) {
      for (RecordedCall& call : iteration.calls) {
        call.gap = scaled(call.gap);
        call.duration = scaled(call.duration);
        any = true;
      }
      iteration.tail = scaled(iteration.tail);
    });
    return any;
  }

  bool operator()(const DropSync& e) const {
    // A schedule may make it block that did not as it was recorded.
    const auto is_of_stage = [&](const Site& site) { return site.segment.stage == e.stage; };
    bool any = e.stage == schedule::Stage::kValidateOutput && std::ranges::any_of(table->sites, is_of_stage);
    table->drops_waits_for_validation = table->drops_waits_for_validation || any;
    for (Site& site : table->sites) {
      if (site.segment.stage != e.stage || !site.blocks_host) continue;
      site.blocks_host = false;
      any = true;
    }
    for_each_iteration(*table, [&](RecordedIteration& iteration) {
      for (RecordedCall& call : iteration.calls) {
        if (call.segment.stage != e.stage || !call.synchronises) continue;
        call.synchronises = false;
        any = true;
      }
    });
    return any;
  }

  bool operator()(const CaptureStage& e) const {
    refuse_waits(e.stage);
    bool any = false;
    const auto launch = static_cast<Nanoseconds>(std::llround(static_cast<double>(e.host) / table->host_scale));
    for_each_iteration(*table, [&](RecordedIteration& iteration) { any = capture(iteration, e.stage, launch) || any; });
    for (Site& site : table->sites) {
      if (site.segment.stage != e.stage) continue;
      site.dispatch_gap_ns = std::min(site.dispatch_gap_ns, kGapInGraph);
      site.in_graph = true;
    }
    return any;
  }

  /// CUDA ends a capture in which the host waits for the device with an error.
  void refuse_waits(schedule::Stage stage) const {
    const auto refuse = [&](std::string_view what) {
      throw Error(kCannotCapture, *place,
                  fmt::format("{} cannot be captured: {} in it blocks the host", schedule::to_string(stage), what),
                  "drop what it waits for before it: {\"drop_sync\": {\"stage\": ...}}");
    };
    for (const Site& site : table->sites) {
      if (site.segment.stage == stage && site.blocks_host) refuse(site.name);
    }
    for_each_iteration(*table, [&](const RecordedIteration& iteration) {
      for (const RecordedCall& call : iteration.calls) {
        if (call.segment.stage == stage && call.synchronises) refuse("a synchronising call");
      }
    });
  }

  bool operator()(const AddWork& e) const {
    const SiteId id{static_cast<std::uint32_t>(table->sites.size())};
    table->sites.push_back(invented(e));
    const stages::SegmentKey segment = table->sites.back().segment;
    for_each_iteration(*table, [&](RecordedIteration& iteration) {
      iteration.calls.push_back({.call = {},
                                 .segment = segment,
                                 .gap = 0,
                                 .duration = e.host,
                                 .synchronises = false,
                                 .first_work = static_cast<std::uint32_t>(iteration.works.size()),
                                 .works = 1});
      iteration.works.push_back({{}, id, e.kind == WorkKind::kCollective, 0});
    });
    return true;
  }

  [[nodiscard]] Site invented(const AddWork& e) const {
    Site site;
    site.segment.stage = e.stage;
    site.name = fmt::format("{} (edit)", schedule::to_string(e.stage));
    site.kind = e.kind;
    site.alone_ns = static_cast<double>(e.takes);
    if (e.kind == WorkKind::kHostCopy) {
      const bool is_to_host = e.stage == schedule::Stage::kValidateOutput;
      site.engine = is_to_host ? replay::CopyEngine::kToHost : replay::CopyEngine::kToDevice;
    }
    std::vector<double> gaps;
    std::int32_t ctas = 0;
    for (const Site& other : table->sites) {
      if (other.segment == site.segment && other.name == site.name) ++site.ordinal;
      site.shape.sm_count = std::max(site.shape.sm_count, other.shape.sm_count);
      ctas = std::max(ctas, other.ctas);
      gaps.push_back(other.dispatch_gap_ns);
    }
    site.dispatch_gap_ns = gaps.empty() ? replay::kUsualDispatchGap : statistics::median(gaps);
    if (e.kind == WorkKind::kCollective) {
      site.ctas = e.sms.value_or(ctas > 0 ? ctas : kUsualCtas);
      site.shape.blocks = site.ctas;
    } else if (e.kind == WorkKind::kKernel) {
      // Without `sms` it fills the GPU as most long kernels do, in rounds of short blocks: SMs that a collective holds
      // slow it in proportion, not by a whole round of its full length.
      const auto rounds = std::llround(std::ceil(site.alone_ns / kUsualBlockTime));
      site.shape.blocks = e.sms ? std::min(*e.sms, site.shape.sm_count) : site.shape.sm_count * rounds;
      site.sensitivity = contention::usual_sensitivity(site.shape.bound);
    }
    return site;
  }
};

std::optional<schedule::Stage> stage_of(const Edit& edit) {
  return std::visit(
      [](const auto& change) -> std::optional<schedule::Stage> {
        if constexpr (requires { change.stage; }) return change.stage;
        return std::nullopt;
      },
      edit.change);
}

bool runs_stage(const schedule::Schedule& schedule, schedule::Stage stage) {
  return std::ranges::any_of(schedule::placed_steps(schedule), [&](const schedule::PlacedStep& placed) {
    const auto* step = std::get_if<schedule::StageStep>(&placed.step->action);
    return step != nullptr && step->stage == stage;
  });
}

/// Of a step: all that the host and the device do in it, as if one came after the other.
double longest_step(const SiteTable& table) {
  double longest = 0;
  for (const auto& iterations : table.ranks) {
    for (const RecordedIteration& iteration : iterations) {
      auto ns = static_cast<double>(iteration.tail);
      for (const RecordedCall& call : iteration.calls) {
        ns += static_cast<double>(call.gap) + static_cast<double>(call.duration);
      }
      for (const replay::RecordedWork& work : iteration.works) {
        const Site& site = table.sites[work.site.index()];
        ns += std::max(site.alone_ns, site.transfer_ns.empty() ? 0.0 : std::ranges::max(site.transfer_ns));
      }
      longest = std::max(longest, ns);
    }
  }
  return longest;
}

void refuse_absurd_times(const SiteTable& table, const Edit& edit) {
  const double ns = longest_step(table);
  if (ns <= kLongestStep) return;
  throw Error(kBadEdit, edit.place,
              fmt::format("with it a step takes {:.0f} days: {}", ns / (24 * 3600 * 1e9), describe(edit)),
              "edits are made one after the other: scale by less");
}

}  // namespace

void refuse_idle_edits(std::span<const Edit> edits, std::span<const schedule::Schedule* const> schedules) {
  for (const Edit& edit : edits) {
    const std::optional<schedule::Stage> stage = stage_of(edit);
    const auto runs = [&](const schedule::Schedule* schedule) { return runs_stage(*schedule, *stage); };
    if (!stage || std::ranges::any_of(schedules, runs)) continue;
    throw Error(kNoMatch, edit.place, fmt::format("no schedule that is replayed runs {}", schedule::to_string(*stage)),
                "name one with --schedule that does, or remove the edit");
  }
}

SiteTable apply_edits(SiteTable table, std::span<const Edit> edits) {
  for (const Edit& edit : edits) {
    if (!std::visit(Apply{&table, &edit.place}, edit.change)) {
      throw Error(kNoMatch, edit.place, fmt::format("nothing in the recording is concerned by: {}", describe(edit)),
                  "interlace info shows what was recorded; remove the edit, or mend it");
    }
    refuse_absurd_times(table, edit);
  }
  return table;
}

}  // namespace interlace::what_if
