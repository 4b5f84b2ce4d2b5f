#include "gui/timeline/colouring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "simulator/analysis/annotations.hpp"

namespace interlace::gui {

namespace {

using trace::OperationId;
using trace::OperationKind;

Rgb categorical(std::size_t number) {
  const auto colours = categorical_colours();
  return colours[number % colours.size()];
}

Colouring by_stage(const trace::Trace& trace, const Tags& tags) {
  Colouring result;
  std::size_t others = 0;
  for (const std::string& name : tags.stages()) {
    ColourEntry entry{name, stage_colour(name)};
    if (!entry.colour && !name.empty()) entry.colour = categorical(others++);
    result.classes.push_back(std::move(entry));
  }
  result.class_of.reserve(trace.size());
  for (std::uint32_t i = 0; i < trace.size(); ++i) result.class_of.push_back(tags.stage_of({i}));
  return result;
}

/// How many batches before the aligned one have a colour of their own. Copies and input exchanges run up to five
/// batches ahead; only what a step's end still does is of a batch before it.
constexpr std::int32_t kBatchesBefore = 1;

/// As many batches have colours of their own as there are colours. Those farther away have the colours again, and one
/// name that says so.
Colouring by_batch(const trace::Trace& trace, const Tags& tags, std::int32_t aligned_batch) {
  const auto cycle = static_cast<std::int32_t>(categorical_colours().size());
  Colouring result;
  result.classes.push_back({});
  for (const bool own : {true, false}) {
    for (std::int32_t number = 0; number < cycle; ++number) {
      const std::int32_t from_aligned = number < cycle - kBatchesBefore ? number : number - cycle;
      std::string name = from_aligned == 0 ? "aligned batch" : fmt::format("batch {:+}", from_aligned);
      if (!own) name = "batches farther away: colours repeat";
      result.classes.push_back({std::move(name), categorical(static_cast<std::size_t>(number))});
    }
  }
  result.class_of.reserve(trace.size());
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const auto batch = tags.batch_of({i});
    if (!batch) {
      result.class_of.push_back(0);
      continue;
    }
    const std::int32_t from_aligned = *batch - aligned_batch;
    const bool own = from_aligned >= -kBatchesBefore && from_aligned < cycle - kBatchesBefore;
    const std::int32_t number = (from_aligned % cycle + cycle) % cycle;
    result.class_of.push_back(static_cast<ColourClass>(1 + number + (own ? 0 : cycle)));
  }
  return result;
}

Colouring by_kind(const trace::Trace& trace) {
  // Alike kinds share a hue's neighbourhood; ranges are neutral, for they are what the others lie in.
  static constexpr std::array<std::optional<std::size_t>, trace::kOperationKinds> kColours = {
      0, 1, 2, 6, 4, 3, 3, 5, std::nullopt, std::nullopt, std::nullopt};
  Colouring result;
  result.classes.push_back({});
  for (std::size_t kind = 0; kind < trace::kOperationKinds; ++kind) {
    ColourEntry entry{std::string(trace::to_string(static_cast<OperationKind>(kind))), std::nullopt};
    if (kColours[kind]) entry.colour = categorical(*kColours[kind]);
    result.classes.push_back(std::move(entry));
  }
  result.class_of.reserve(trace.size());
  for (const OperationKind kind : trace.kinds()) {
    result.class_of.push_back(static_cast<ColourClass>(static_cast<std::size_t>(kind) + 1));
  }
  return result;
}

/// Streams of one use have one colour on all ranks and in all traces: "main", "communication", "compute 2".
std::vector<ColourClass> class_of_lanes(const trace::Trace& trace, const Lanes& lanes, Colouring& result) {
  // The colours that measured and predicted streams of the common uses get, whichever of them a trace has.
  static constexpr std::array<std::string_view, 4> kFirst = {"main", "communication", "copy", "compute"};
  const auto class_named = [&](const std::string& name) {
    auto found = std::ranges::find(result.classes, name, &ColourEntry::name);
    if (found == result.classes.end()) {
      result.classes.push_back({name, categorical(result.classes.size() - 1)});
      found = result.classes.end() - 1;
    }
    return static_cast<ColourClass>(found - result.classes.begin());
  };
  for (const std::string_view name : kFirst) (void)class_named(std::string(name));
  std::vector<ColourClass> classes(trace.lanes().size(), 0);
  std::map<std::pair<trace::RankId, analysis::StreamRole>, int> seen;
  for (const LaneRows& lane : lanes.lanes) {
    if (!lane.role) continue;
    const int number = ++seen[{trace.lane(lane.lane).rank, *lane.role}];
    const std::string role(analysis::to_string(*lane.role));
    classes[lane.lane.index()] = class_named(number == 1 ? role : fmt::format("{} {}", role, number));
  }
  return classes;
}

Colouring by_stream(const trace::Trace& trace, const Lanes& lanes) {
  Colouring result;
  result.classes.push_back({});
  const std::vector<ColourClass> of_lane = class_of_lanes(trace, lanes, result);
  result.class_of.reserve(trace.size());
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    // A host call has the colour of the stream that it puts work on.
    const auto launched = trace.launched_by({i});
    const OperationId shown = launched.empty() ? OperationId{i} : launched.front();
    result.class_of.push_back(of_lane[trace.lane_of(shown).index()]);
  }
  return result;
}

}  // namespace

std::string_view to_string(ColourBy by) {
  switch (by) {
    case ColourBy::kStage: return "stage";
    case ColourBy::kBatch: return "batch";
    case ColourBy::kKind: return "kind";
    case ColourBy::kStream: return "stream";
  }
  return "";
}

Colouring colour(const trace::Trace& trace, const Lanes& lanes, const Tags& tags, ColourBy by,
                 std::int32_t aligned_batch) {
  Colouring result;
  switch (by) {
    case ColourBy::kStage: result = by_stage(trace, tags); break;
    case ColourBy::kBatch: result = by_batch(trace, tags, aligned_batch); break;
    case ColourBy::kKind: result = by_kind(trace); break;
    case ColourBy::kStream: result = by_stream(trace, lanes); break;
  }
  result.by = by;
  for (const ColourClass colour_class : result.class_of) ++result.classes[colour_class].operations;
  result.by_row.reserve(lanes.rows.size());
  for (const Row& row : lanes.rows) {
    std::vector<ColourClass>& of_row = result.by_row.emplace_back();
    of_row.reserve(row.operations.size());
    for (const OperationId op : row.operations) of_row.push_back(result.class_of[op.index()]);
  }
  return result;
}

}  // namespace interlace::gui
