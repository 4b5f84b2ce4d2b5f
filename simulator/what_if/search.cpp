#include "simulator/what_if/search.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "simulator/check/edits.hpp"
#include "simulator/check/repairs.hpp"
#include "simulator/check/staleness.hpp"
#include "simulator/replay/applicable.hpp"
#include "simulator/schedule/print.hpp"
#include "simulator/what_if/moves.hpp"

namespace interlace::what_if {

namespace {

using schedule::Schedule;

/// Schedules that are moved on from in one round. With one the same jobs end at the same schedules in half the tries,
/// or in something slightly worse; with four they run out of them.
constexpr std::size_t kWidth = 2;
/// Rounds without gain that end the search.
constexpr int kPatience = 3;
/// What counts as a gain: less is the luck of draws.
constexpr double kLeastGain = 0.001;
/// What a further change has to gain to be worth making.
constexpr double kWorthOfChange = 0.003;
/// Of each number of changes so many are predicted in full.
constexpr std::size_t kConfirmed = 4;

/// Equal for schedules that say the same.
std::string key_of(Schedule schedule) {
  schedule.name.clear();
  schedule.description.clear();
  schedule.hazardous = false;
  return schedule::print(schedule);
}

/// What a search simulates of a schedule to compare it with others.
replay::PredictOptions in_short(replay::PredictOptions options) {
  constexpr std::int32_t kSteps = 12;
  options.runs = 1;
  options.simulation.iterations = std::min(options.simulation.iterations, options.simulation.warm_up + kSteps);
  return options;
}

replay::PredictOptions with_other_seed(replay::PredictOptions options) {
  ++options.simulation.seed;
  return options;
}

std::size_t recorded_streams(const Schedule& schedule) {
  std::size_t count = 0;
  for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
    const auto* stage = std::get_if<schedule::StageStep>(&placed.step->action);
    if (stage != nullptr) count += stage->record_stream.size();
  }
  return count;
}

/// " (+2 waits, +1 record_stream)": what was added to mend a schedule.
std::string added(const Schedule& before, const Schedule& after) {
  std::string text;
  const auto tell = [&](std::size_t was, std::size_t is, std::string_view what) {
    if (is <= was) return;
    text += fmt::format("{}+{} {}{}", text.empty() ? " (" : ", ", is - was, what, is - was == 1 ? "" : "s");
  };
  tell(check::written_waits(before).size(), check::written_waits(after).size(), "wait");
  tell(recorded_streams(before), recorded_streams(after), "record_stream");
  return text.empty() ? text : text + ")";
}

/// A schedule on its way to being simulated.
struct Candidate {
  enum class End : std::uint8_t { kNone, kRacy, kOtherNumbers, kNotRecorded };
  Found found;
  End end = End::kNone;
};

class Search {
 public:
  Search(const replay::Predictor& predictor, const SearchOptions& options,
         const std::function<void(std::size_t, Nanoseconds)>& tell)
      : predictor_(predictor), options_(options), tell_(tell), in_short_(in_short(options.predict)) {
    unrolled_.collectives = !options.one_rank;
    unrolled_.feature_processors = options.feature_processors;
  }

  SearchResult run(std::span<const Schedule> starts) {
    std::vector<Candidate> first;
    for (const Schedule& start : starts) {
      Found& found = first.emplace_back().found;
      found.schedule = start;
      found.schedule.known_hazards.clear();  // what is found is to have none
      found.schedule.hazardous = false;
      found.schedule.caution.clear();  // it stands for no code yet
      found.start = start.name;
      if (first.size() > 1) found.changes.push_back(start.name + " instead");
    }
    round(std::move(first));
    for (int in_vain = 0; in_vain < kPatience && counts_.simulated < options_.most_tries;) {
      const auto before = static_cast<double>(best());
      std::vector<Candidate> next = moves_on();
      if (next.empty()) break;
      round(std::move(next));
      in_vain = static_cast<double>(best()) < before * (1 - kLeastGain) ? 0 : in_vain + 1;
    }
    return result(starts);
  }

 private:
  struct Node {
    Found found;
    bool was_moved_on_from = false;
  };

  void round(std::vector<Candidate> candidates) {
    std::erase_if(candidates, [&](const Candidate& one) { return !seen_.insert(key_of(one.found.schedule)).second; });
    counts_.seen += candidates.size();
    tbb::parallel_for(std::size_t{0}, candidates.size(), [&](std::size_t i) { make_sound(candidates[i]); });
    drop_ended(candidates);
    counts_.repeated += std::erase_if(
        candidates, [&](const Candidate& one) { return !sound_.insert(key_of(one.found.schedule)).second; });
    const std::size_t left = options_.most_tries - std::min(options_.most_tries, counts_.simulated);
    if (candidates.size() > left) {
      counts_.not_tried += candidates.size() - left;
      candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(left), candidates.end());
    }
    tbb::parallel_for(std::size_t{0}, candidates.size(), [&](std::size_t i) { simulate(candidates[i]); });
    drop_ended(candidates);
    counts_.simulated += candidates.size();
    for (Candidate& one : candidates) nodes_.push_back({std::move(one.found)});
    std::ranges::stable_sort(nodes_, {}, [](const Node& node) { return node.found.step_time; });
    if (tell_) tell_(counts_.simulated, best());
  }

  void drop_ended(std::vector<Candidate>& candidates) {
    const auto drop = [&](Candidate::End end) {
      return std::erase_if(candidates, [end](const Candidate& one) { return one.end == end; });
    };
    counts_.racy += drop(Candidate::End::kRacy);
    counts_.other_numbers += drop(Candidate::End::kOtherNumbers);
    counts_.not_recorded += drop(Candidate::End::kNotRecorded);
  }

  void make_sound(Candidate& candidate) const {
    Schedule& schedule = candidate.found.schedule;
    const check::Examined examined(schedule, unrolled_);
    if (check::findings_of(examined).empty()) {
      if (!trains_the_same(examined.program())) candidate.end = Candidate::End::kOtherNumbers;
      return;
    }
    check::Repairs repairs = check::find_repairs(examined);
    if (!repairs.repaired) {
      candidate.end = Candidate::End::kRacy;
      return;
    }
    if (!candidate.found.changes.empty()) {
      candidate.found.changes.back() += added(schedule, *repairs.repaired);
    } else {
      for (const check::Hazard& hazard : repairs.hazards) candidate.found.mends.push_back(hazard.fix->text);
    }
    const check::Examined mended(*repairs.repaired, unrolled_);
    if (!trains_the_same(mended.program())) candidate.end = Candidate::End::kOtherNumbers;
    candidate.found.schedule = *repairs.repaired;
  }

  /// Of a program without hazards.
  [[nodiscard]] bool trains_the_same(const check::Program& program) const {
    const auto is_fresh = [&](const check::Staleness& read) {
      return read.updates <= (read.resource == "tables" ? options_.most_stale : 0);
    };
    return std::ranges::all_of(check::staleness_of(program), is_fresh) &&
           check::numerics_of(program, {}, false).as_base.value_or(false);
  }

  void simulate(Candidate& candidate) const {
    const auto why_not = replay::predict_if_applicable(candidate.found.schedule, predictor_.sites(), [&] {
      candidate.found.step_time = predictor_.step_time(candidate.found.schedule, in_short_);
    });
    if (why_not) candidate.end = Candidate::End::kNotRecorded;
  }

  [[nodiscard]] Nanoseconds best() const {
    return nodes_.empty() ? std::numeric_limits<Nanoseconds>::max() : nodes_.front().found.step_time;
  }

  /// One move further from the fastest.
  std::vector<Candidate> moves_on() {
    std::vector<Candidate> next;
    std::size_t left = kWidth;
    for (Node& node : nodes_) {
      if (node.was_moved_on_from) continue;
      if (left-- == 0) break;
      node.was_moved_on_from = true;
      for (Move& move : moves(node.found.schedule)) {
        Found& found = next.emplace_back().found;
        found = {std::move(move.schedule), node.found.start, node.found.mends, node.found.changes, 0};
        found.changes.push_back(std::move(move.text));
      }
    }
    return next;
  }

  /// The fastest of each number of changes, predicted in full. By number of changes, then the fastest first.
  [[nodiscard]] std::vector<Found> confirmed() const {
    std::vector<Found> chosen;
    std::vector<std::size_t> of_number;
    for (const Node& node : nodes_) {
      const std::size_t changes = node.found.changes.size();
      if (of_number.size() <= changes) of_number.resize(changes + 1);
      if (of_number[changes]++ < kConfirmed) chosen.push_back(node.found);
    }
    const replay::PredictOptions options = with_other_seed(options_.predict);
    tbb::parallel_for(std::size_t{0}, chosen.size(),
                      [&](std::size_t i) { chosen[i].step_time = predictor_.step_time(chosen[i].schedule, options); });
    std::ranges::stable_sort(chosen, {},
                             [](const Found& one) { return std::tuple(one.changes.size(), one.step_time); });
    return chosen;
  }

  /// A start that was mended, as it is without that: gains are told against what was recorded.
  [[nodiscard]] std::optional<Found> as_given(const Schedule& start) const {
    Found given{start, start.name, {}, {}, 0};
    const auto why_not = replay::predict_if_applicable(start, predictor_.sites(), [&] {
      given.step_time = predictor_.step_time(start, with_other_seed(options_.predict));
    });
    return why_not ? std::nullopt : std::optional(std::move(given));
  }

  [[nodiscard]] SearchResult result(std::span<const Schedule> starts) const {
    SearchResult result{{}, {}, counts_};
    for (Found& one : confirmed()) {
      if (one.changes.empty()) {
        result.first = one.mends.empty() ? std::move(one) : as_given(starts.front());
        continue;
      }
      const Found* before = result.found.empty() ? nullptr : &result.found.back();
      if (before == nullptr && result.first) before = &*result.first;
      if (before != nullptr) {
        const auto further = static_cast<double>(one.changes.size() - before->changes.size());
        const double to_beat = static_cast<double>(before->step_time) * (1 - kWorthOfChange * further);
        if (further == 0 || static_cast<double>(one.step_time) > to_beat) continue;
      }
      result.found.push_back(std::move(one));
    }
    std::ranges::reverse(result.found);
    return result;
  }

  const replay::Predictor& predictor_;
  const SearchOptions& options_;
  const std::function<void(std::size_t, Nanoseconds)>& tell_;
  replay::PredictOptions in_short_;
  check::UnrollOptions unrolled_;
  std::set<std::string> seen_;   ///< as moves make them
  std::set<std::string> sound_;  ///< with their waits
  std::vector<Node> nodes_;      ///< fastest first
  SearchCounts counts_;
};

}  // namespace

SearchResult search(std::span<const Schedule> starts, const replay::Predictor& predictor, const SearchOptions& options,
                    const std::function<void(std::size_t simulated, Nanoseconds best)>& tell) {
  return Search(predictor, options, tell).run(starts);
}

}  // namespace interlace::what_if
