#include "simulator/replay/applicable.hpp"

#include <fmt/format.h>

#include "simulator/replay/program.hpp"

namespace interlace::replay {

std::optional<std::string> predict_if_applicable(const schedule::Schedule& schedule, const SiteTable& table,
                                                 const std::function<void()>& predict) {
  if (const auto lost = lost_stage(schedule, table)) {
    return fmt::format("recorded stage \"{}\"{} is not in it", schedule::to_string(lost->stage), lost->of_module());
  }
  try {
    predict();
  } catch (const Error& error) {
    if (error.code() != kStageNotRecorded.name) throw;
    return error.problem();
  }
  return std::nullopt;
}

}  // namespace interlace::replay
