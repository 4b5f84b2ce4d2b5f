#include "gui/timeline/ticks.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace interlace::gui {

namespace {

struct Unit {
  Nanoseconds length;
  std::string_view name;
};
constexpr std::array<Unit, 4> kUnits = {{{kSecond, "s"}, {kMillisecond, "ms"}, {kMicrosecond, "µs"}, {1, "ns"}}};

const Unit& unit_for(Nanoseconds time) {
  for (const Unit& unit : kUnits) {
    if (time >= unit.length) return unit;
  }
  return kUnits.back();
}

/// 1, 2 or 5 times a power of ten, at least `least`.
Nanoseconds round_step(double least) {
  constexpr std::array<Nanoseconds, 3> kRound = {1, 2, 5};
  for (Nanoseconds decade = 1;; decade *= 10) {
    for (const Nanoseconds round : kRound) {
      if (static_cast<double>(round * decade) >= least) return round * decade;
    }
  }
}

Nanoseconds first_multiple(Nanoseconds from, Nanoseconds step) {
  const Nanoseconds below = from / step * step;
  return below < from ? below + step : below;
}

}  // namespace

std::vector<Tick> ticks(const Viewport& view, double least_px) {
  std::vector<Tick> all;
  if (view.width < 1) return all;
  const Nanoseconds major = round_step(view.ns_per_px * least_px);
  const Nanoseconds minor = major >= 5 ? major / 5 : major;
  const Interval shown = view.visible();
  for (Nanoseconds at = first_multiple(shown.begin, minor); at <= shown.end; at += minor) {
    all.push_back({at, at % major == 0 ? time_text(at, major) : std::string()});
  }
  return all;
}

std::string duration_text(Nanoseconds time) {
  const Nanoseconds length = time < 0 ? -time : time;
  const Unit& unit = unit_for(length);
  if (unit.length == 1) return fmt::format("{} ns", time);
  const double value = static_cast<double>(time) / static_cast<double>(unit.length);
  const double size = std::abs(value);
  const int decimals = size < 10 ? 3 : size < 100 ? 2 : 1;
  return fmt::format("{:.{}f} {}", value, decimals, unit.name);
}

std::string milliseconds_text(Nanoseconds time) {
  const Nanoseconds length = time < 0 ? -time : time;
  const bool usual = length == 0 || length >= kMillisecond / 10;
  const int decimals = usual ? 2 : length >= kMillisecond / 100 ? 3 : 4;
  return fmt::format("{:.{}f}", static_cast<double>(time) / static_cast<double>(kMillisecond), decimals);
}

std::string time_text(Nanoseconds at, Nanoseconds apart) {
  if (at == 0) return "0";
  // The unit of the distance, but no smaller a one than three digits before the point need: 12,500 µs is 12.5 ms.
  const Nanoseconds size = at < 0 ? -at : at;
  const Unit* unit = &unit_for(apart);
  while (unit != kUnits.data() && size >= 1000 * unit->length) --unit;
  int decimals = 0;
  for (Nanoseconds step = unit->length; step > apart && step > 1; step /= 10) ++decimals;
  return fmt::format("{:.{}f} {}", static_cast<double>(at) / static_cast<double>(unit->length), decimals, unit->name);
}

}  // namespace interlace::gui
