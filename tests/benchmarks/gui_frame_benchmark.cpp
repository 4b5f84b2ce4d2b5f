// A frame of panning and zooming over a large trace, as the window paints it: software rendering at 1920x1080.
//
// INTERLACE_BENCHMARK_OPERATIONS sets the size of the trace: 200,000 where absent; 10000000 is what the design asks
// for.
#include <benchmark/benchmark.h>

#include <QGuiApplication>
#include <QImage>
#include <QPainter>
#include <algorithm>
#include <ctime>
#include <memory>

#include "gui/timeline/draw_pane.hpp"
#include "tests/benchmarks/large_trace.hpp"

namespace interlace::gui {
namespace {

constexpr int kWidth = 1920;
constexpr int kHeight = 1080;

/// Time that this thread had a processor: what other programs do on the machine does not count as ours.
double thread_ms() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// Made once: it takes longer than what is measured.
struct LargePane {
  trace::Trace trace = benchmarks::large_trace(benchmarks::operations_wanted());
  Scene scene{trace, Tags(trace.size())};
  Colouring colouring = colour(trace, scene.lanes(), scene.tags(), ColourBy::kKind);
  Placement placement =
      place(trace, scene.lanes(), LaneChoice::compact(scene.lanes(), trace.ranks().size()), RowHeights());
  LabelCache labels{trace};
  QImage image{kWidth, kHeight, QImage::Format_RGB32};

  double frame_ms(const Viewport& view) {
    PaneContent content;
    content.scene = &scene;
    content.colouring = &colouring;
    content.placement = &placement;
    content.view = view;
    const double begin = thread_ms();
    QPainter painter(&image);
    draw_pane(painter, content, QRectF(0, 0, kWidth, kHeight), theme(ThemeKind::kLight), labels);
    painter.end();
    return thread_ms() - begin;
  }
};

LargePane& large_pane() {
  static const auto pane = std::make_unique<LargePane>();
  return *pane;
}

void report(benchmark::State& state, std::vector<double> frames) {
  std::ranges::sort(frames);
  const auto part = [&](double of) {
    return frames[static_cast<std::size_t>(of * static_cast<double>(frames.size() - 1))];
  };
  state.counters["p50_ms"] = part(0.5);
  state.counters["p99_ms"] = part(0.99);
  state.counters["max_ms"] = frames.back();
  state.counters["frames"] = static_cast<double>(frames.size());
  state.counters["operations"] = static_cast<double>(large_pane().trace.size());
}

/// From the whole trace down to microseconds and back, a notch of the wheel a frame.
void zoom(benchmark::State& state) {
  LargePane& pane = large_pane();
  const Viewport all = fitted({0, pane.trace.length()}, kWidth - kLabelWidth);
  std::vector<double> frames;
  for (auto _ : state) {
    Viewport view = all;
    for (const double factor : {1.25, 0.8}) {
      for (int notch = 0; notch < 60; ++notch) {
        view = zoomed(view, factor, 700);
        frames.push_back(pane.frame_ms(view));
      }
    }
  }
  report(state, std::move(frames));
}
BENCHMARK(zoom)->Unit(benchmark::kMillisecond);

/// By 40 pixels a frame, at scales from the whole trace to single kernels.
void pan(benchmark::State& state) {
  LargePane& pane = large_pane();
  std::vector<double> frames;
  for (auto _ : state) {
    for (const double closer : {1.0, 10.0, 100.0, 1000.0, 10'000.0}) {
      Viewport view = zoomed(fitted({0, pane.trace.length()}, kWidth - kLabelWidth), closer, 900);
      for (int frame = 0; frame < 40; ++frame) {
        view = panned(view, -40);
        frames.push_back(pane.frame_ms(view));
      }
    }
  }
  report(state, std::move(frames));
}
BENCHMARK(pan)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace interlace::gui

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const QGuiApplication application(argc, argv);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
