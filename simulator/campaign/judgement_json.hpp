#pragma once

#include <string>

#include "simulator/campaign/judgement.hpp"

namespace interlace::campaign {

/// report.json: the plan in short, the digest of the prediction, a row a schedule, and what they come to.
[[nodiscard]] std::string judgement_json(const Plan& plan, const std::string& prediction_digest,
                                         const PredictionFile& prediction, const Judgement& judgement);

}  // namespace interlace::campaign
