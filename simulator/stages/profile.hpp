#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/stages/segment.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::stages {

inline constexpr ErrorCode kBadProfile{"stages.bad_profile"};

/// How a rule learns which sharded module it is about.
enum class ModuleFrom : std::uint8_t {
  kNone,
  kEnclosing,  ///< group 1 of `module_pattern` on a range around the call
  kNext,       ///< group 1 on the next range (by end) that matches
  kLast,       ///< group 1 on the last range (by start) that matches
  kCount,      ///< the number of ranges that matched since the outermost range around the call began, less one
};

/// A host call inside ranges that match all of `within` belongs to this segment. Patterns are RE2 regular
/// expressions, searched in the names of annotation ranges.
struct Rule {
  schedule::Stage stage = schedule::Stage::kCompute;
  Piece piece = Piece::kWhole;
  std::vector<std::string> within;
  /// Further condition: of the ranges that match any `markers` pattern, the next one to end matches the first pattern.
  std::vector<std::string> markers;
  ModuleFrom module_from = ModuleFrom::kNone;
  std::string module_pattern;
};

/// When a loop lets go of what its stages leave for later ones.
enum class Frees : std::uint8_t {
  kByOwners,       ///< when the last of those who hold it does, as in PyTorch: batches, awaitables, autograd
  kBehindLastUse,  ///< behind the last stage that touches it, or as the schedule says (schedule::release_point)
};

/// How the annotations of a code base name the stages of its training loop. The first rule that fits a host call wins.
struct Profile {
  std::string name;
  std::string iteration_end;  ///< ranges that match end one iteration each
  std::string backward;       ///< ranges during which autograd threads work for the thread that opened them
  Frees frees = Frees::kByOwners;
  std::vector<Rule> rules;
};

/// Throws Error(stages.bad_profile) naming the file and the rule.
[[nodiscard]] Profile parse_profile(std::string_view json, std::string_view source);
[[nodiscard]] Profile read_profile(const std::filesystem::path& file);

/// TorchRec's own annotations ("## forward 12 ##", "[lookup]_[module]_[sharding]").
[[nodiscard]] const Profile& torchrec_profile();
/// The engine's ("iteration 12", "backward 12", "[module:update]").
[[nodiscard]] const Profile& interlace_profile();
/// The names of these.
inline constexpr std::array<std::string_view, 2> kBuiltInProfiles{"torchrec", "interlace"};

/// What a user may name: a built-in profile, or a file. Throws Error(stages.bad_profile), with the built-in names where
/// there is no such file.
[[nodiscard]] Profile load_profile(const std::string& name_or_file);

/// The built-in one that knows the annotations of this trace: the engine's where it has only these, else TorchRec's.
[[nodiscard]] const Profile& profile_of(const trace::Trace& trace);

}  // namespace interlace::stages
