#include "gui/render_command.hpp"

#include <charconv>
#include <utility>
#include <variant>

#include "simulator/schedule/library.hpp"

namespace interlace::gui {

std::vector<std::string> render(const RenderRequest& request) {
  // A wrong schedule is told before the time is taken that reading needs.
  const std::vector<schedule::AskedSchedule> asked = schedule::asked_schedules(request.schedules);
  const Progress silent;
  const RecordedPtr recorded = open_recording(request.recordings, silent, request.profile);
  std::vector<std::future<Answer>> answers;
  Forecaster(recorded).predict(
      asked, silent, [&](std::size_t /*place*/, std::future<Answer> answer) { answers.push_back(std::move(answer)); });
  std::vector<ForecastPtr> forecasts;
  std::vector<report::SkippedSchedule> left_out;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    Answer answer = answers[i].get();
    if (ForecastPtr* forecast = std::get_if<ForecastPtr>(&answer)) {
      forecasts.push_back(std::move(*forecast));
    } else {
      left_out.push_back({asked[i].schedule.name, std::get<std::string>(answer)});
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
