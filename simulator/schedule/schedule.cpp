#include "simulator/schedule/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <span>

namespace interlace::schedule {

namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, kStages> kStageWords = {
    "next_batch",        "copy_batch_to_gpu", "input_dist_start", "input_dist_wait",      "input_dist_finish",
    "embedding_lookup",  "output_dist_start", "output_dist_wait", "data_parallel_lookup", "dense_forward",
    "backward",          "optimizer_step",    "zero_grad",        "validate_output",      "prefetch",
    "feature_processor", "compute",           "all_to_all",
};
constexpr std::array<std::string_view, 2> kPartWords = {"dense", "embedding"};
constexpr std::array<std::string_view, 3> kModeWords = {"blocking", "event", "unsafe"};

template <class Enum>
std::optional<Enum> find_word(std::span<const std::string_view> words, std::string_view word) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
}

constexpr std::string_view kIterationEnd = "iteration_end";

}  // namespace

std::string_view to_string(Stage stage) { return kStageWords.at(static_cast<std::size_t>(stage)); }
std::optional<Stage> stage_named(std::string_view word) { return find_word<Stage>(kStageWords, word); }

std::string_view to_string(Part part) { return kPartWords.at(static_cast<std::size_t>(part)); }
std::optional<Part> part_named(std::string_view word) { return find_word<Part>(kPartWords, word); }

std::string_view to_string(ValidateMode mode) { return kModeWords.at(static_cast<std::size_t>(mode)); }
std::optional<ValidateMode> validate_mode_named(std::string_view word) {
  return find_word<ValidateMode>(kModeWords, word);
}

std::string_view to_string(KeptUntil kept) { return kept.stage ? to_string(*kept.stage) : kIterationEnd; }
std::optional<KeptUntil> kept_until_named(std::string_view word) {
  if (word == kIterationEnd) return KeptUntil{};
  const auto stage = stage_named(word);
  return stage ? std::optional(KeptUntil{*stage}) : std::nullopt;
}

std::string batch_word(std::int64_t batch) { return batch == 0 ? "i" : fmt::format("i{:+}", batch); }

std::optional<StreamIndex> Schedule::stream_named(std::string_view wanted) const {
  const auto found = std::ranges::find(streams, wanted, &Stream::name);
  if (found == streams.end()) return std::nullopt;
  return StreamIndex{static_cast<std::uint32_t>(found - streams.begin())};
}

StreamIndex Schedule::resolve(StreamIndex index) const {
  for (std::size_t hops = 0; stream(index).same_as; ++hops) {
    assert(hops < streams.size() && "same_as runs in a circle: the parser refuses such a schedule");
    index = *stream(index).same_as;
  }
  return index;
}

}  // namespace interlace::schedule
