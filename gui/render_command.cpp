#include "gui/render_command.hpp"

#include <charconv>
#include <utility>

#include "simulator/schedule/library.hpp"

namespace interlace::gui {

std::vector<std::string> render(const RenderRequest& request) {
  // A wrong schedule is told before the time is taken that reading needs.
  std::vector<schedule::Schedule> schedules;
  for (const std::string& name : request.schedules) {
    schedules.push_back(schedule::load_beside(name, schedules));
  }
  const Progress silent;
  const RecordedPtr recorded = open_recording(request.recordings, silent, request.profile);
  Forecaster forecaster(recorded);
  std::vector<ForecastPtr> forecasts;
  for (const schedule::Schedule& schedule : schedules) forecasts.push_back(forecaster.predict(schedule, silent));
  const RenderedComparison comparison(recorded, std::move(forecasts), request.options);
  write_picture(comparison.picture(), request.out);
  return comparison.remarks();
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
