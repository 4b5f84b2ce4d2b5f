#include "gui/render_command.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>
#include <variant>

#include "simulator/schedule/library.hpp"

namespace interlace::gui {

namespace {

struct AskedSchedules {
  std::vector<schedule::Schedule> schedules;  ///< each name once
  std::set<std::string> by_name;              ///< the others came through "all", so that they may be left out
};

AskedSchedules asked_schedules(const std::vector<std::string>& names) {
  AskedSchedules asked;
  const auto add = [&](schedule::Schedule schedule) {
    const bool is_new =
        std::ranges::find(asked.schedules, schedule.name, &schedule::Schedule::name) == asked.schedules.end();
    if (is_new) asked.schedules.push_back(std::move(schedule));
  };
  for (const std::string& name : names) {
    if (name == "all") {
      for (schedule::Schedule& schedule : schedule::all_sound()) add(std::move(schedule));
      continue;
    }
    schedule::Schedule schedule = schedule::load_beside(name, asked.schedules);
    asked.by_name.insert(schedule.name);
    add(std::move(schedule));
  }
  return asked;
}

}  // namespace

std::vector<std::string> render(const RenderRequest& request) {
  // A wrong schedule is told before the time is taken that reading needs.
  const AskedSchedules asked = asked_schedules(request.schedules);
  const Progress silent;
  const RecordedPtr recorded = open_recording(request.recordings, silent, request.profile);
  Forecaster forecaster(recorded);
  std::vector<ForecastPtr> forecasts;
  std::vector<report::SkippedSchedule> left_out;
  for (const schedule::Schedule& schedule : asked.schedules) {
    if (asked.by_name.contains(schedule.name)) {
      forecasts.push_back(forecaster.predict(schedule, silent));
      continue;
    }
    auto answer = forecaster.predict_if_it_applies(schedule, silent);
    if (ForecastPtr* forecast = std::get_if<ForecastPtr>(&answer)) {
      forecasts.push_back(std::move(*forecast));
    } else {
      left_out.push_back({schedule.name, std::get<std::string>(answer)});
    }
  }
  const RenderedComparison comparison(recorded, std::move(forecasts), request.options);
  write_picture(comparison.picture(), request.out);
  std::vector<std::string> remarks = comparison.remarks();
  for (const report::SkippedGroup& group : report::skipped_by_reason(left_out)) {
    remarks.push_back("left out, " + group.why + ": " + group.schedules);
  }
  return remarks;
}

void set_size(RenderOptions& options, const std::string& text) {
  constexpr int kSmallest = 200;
  constexpr int kLargest = 30'000;
  int width = 0;
  int height = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, width);
  const bool crossed = first.ec == std::errc() && first.ptr != end && *first.ptr == 'x';
  const auto second = crossed ? std::from_chars(first.ptr + 1, end, height) : first;
  const auto sensible = [](int pixels) { return pixels >= kSmallest && pixels <= kLargest; };
  if (!crossed || second.ec != std::errc() || second.ptr != end || !sensible(width) || !sensible(height)) {
    throw Error(kBadSize, "--size " + text, "no size of a picture", "write WIDTHxHEIGHT in pixels, 200 to 30000 each");
  }
  options.width = width;
  options.height = height;
}

}  // namespace interlace::gui
