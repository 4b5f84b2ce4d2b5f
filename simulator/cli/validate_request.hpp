#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/campaign/campaign_files.hpp"
#include "simulator/campaign/judgement.hpp"
#include "simulator/cli/console.hpp"

namespace interlace::cli {

/// How a campaign is carried out; what it does is in its plan.
struct CampaignRunner {
  std::filesystem::path engine;                ///< interlace-engine
  std::filesystem::path recorder;              ///< interlace-record, for an engine that cannot record itself
  std::optional<std::chrono::seconds> budget;  ///< stop before it would be used up
  std::chrono::seconds run_limit{600};         ///< of one run
  std::vector<std::string> gpus;               ///< as Plan::hardware
  std::string engine_help;                     ///< what the engine says of its command run

  [[nodiscard]] bool engine_knows(std::string_view option) const {
    return engine_help.find(option) != std::string::npos;
  }
};

/// A campaign that was asked for: its plan, and the files that it names as the campaign keeps them.
struct PlannedCampaign {
  campaign::Plan plan;
  std::map<std::string, std::string> inputs;  ///< name in the folder -> content
};

/// Makes the files that `asked` names inputs: workload, schedules, machine profile. A schedule whose name another one
/// bears, built-in or asked for, gets that of its file beside it, so that what is predicted under a name is what runs.
/// Throws Error(cli.not_planned), and what reading them throws.
[[nodiscard]] PlannedCampaign planned(campaign::Plan asked);

/// Does what is left of a campaign. False where the budget ended it first.
[[nodiscard]] bool carry_out(const campaign::Folder& folder, const CampaignRunner& runner, Console& console);

/// Predicts from the recordings what the plan asks for, with its baselines. The predicted traces go to `traces`, a new
/// folder, where one is named.
[[nodiscard]] campaign::PredictionFile predict_campaign(const campaign::Folder& folder, const campaign::Plan& plan,
                                                        const std::optional<std::filesystem::path>& traces,
                                                        Console& console);
/// What the recorded run of a schedule shows of overlap.
[[nodiscard]] campaign::MeasuredTrace measure_trace(const std::filesystem::path& recording, const std::string& schedule,
                                                    Console& console);

/// Variables of the environment that say how CUDA, NCCL and PyTorch's allocator work, with those of the plan.
[[nodiscard]] std::map<std::string, std::string> settings_with(const std::map<std::string, std::string>& given);

/// As Plan::engine.
[[nodiscard]] std::string digest_of_engine(const std::filesystem::path& engine);

/// predicted: when the prediction was made, in words.
void write_campaign_table(std::ostream& out, const campaign::Plan& plan, const std::string& predicted,
                          const campaign::PredictionFile& prediction, const campaign::Judgement& judgement,
                          const report::TextStyle& style);

}  // namespace interlace::cli
