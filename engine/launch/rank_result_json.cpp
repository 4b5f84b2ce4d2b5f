#include "engine/launch/rank_result_json.hpp"

#include <bit>
#include <nlohmann/json.hpp>

namespace interlace::engine {

using Json = nlohmann::json;

std::string to_json(const RankResult& result) {
  Json losses = Json::array();
  for (const float loss : result.losses) losses.push_back(std::bit_cast<std::uint32_t>(loss));
  Json validations = Json::array();
  for (const Validation& validation : result.validations) {
    validations.push_back({validation.batch, validation.mode, validation.passed});
  }
  Json profile = Json::array();
  for (const ProfileLine& line : result.profile) {
    profile.push_back({line.kind, line.name, line.count, line.host_seconds, line.device_seconds});
  }
  return Json{{"losses", losses},
              {"digest", result.digest},
              {"allocated", result.peaks.allocated},
              {"reserved", result.peaks.reserved},
              {"validations", validations},
              {"seconds", result.seconds},
              {"step_seconds", result.step_seconds},
              {"profile", profile}}
      .dump();
}

RankResult rank_result_of(const std::string& json) {
  const Json parsed = Json::parse(json);
  RankResult result{.losses = {},
                    .digest = parsed.at("digest").get<std::uint64_t>(),
                    .peaks = {.allocated = parsed.at("allocated").get<std::int64_t>(),
                              .reserved = parsed.at("reserved").get<std::int64_t>()},
                    .validations = {},
                    .seconds = parsed.at("seconds").get<double>(),
                    .step_seconds = parsed.at("step_seconds").get<std::vector<double>>(),
                    .profile = {}};
  for (const Json& loss : parsed.at("losses")) result.losses.push_back(std::bit_cast<float>(loss.get<std::uint32_t>()));
  for (const Json& validation : parsed.at("validations")) {
    result.validations.push_back(
        {validation.at(0).get<std::int64_t>(), validation.at(1).get<std::string>(), validation.at(2).get<bool>()});
  }
  for (const Json& line : parsed.at("profile")) {
    result.profile.push_back({.kind = line.at(0).get<std::string>(),
                              .name = line.at(1).get<std::string>(),
                              .count = line.at(2).get<std::int64_t>(),
                              .host_seconds = line.at(3).get<double>(),
                              .device_seconds = line.at(4).get<double>()});
  }
  return result;
}

}  // namespace interlace::engine
