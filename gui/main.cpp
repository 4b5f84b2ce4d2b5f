#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <QApplication>
#include <exception>
#include <iostream>
#include <map>
#include <optional>

#include "gui/render_command.hpp"
#include "gui/window/main_window.hpp"
#include "simulator/base/program.hpp"
#include "simulator/base/usage_error.hpp"
#include "simulator/cli/help_formatter.hpp"

namespace {

using namespace interlace::gui;

using interlace::kFailure;
using interlace::kSuccess;

/// Of the window; a picture needs none.
constexpr interlace::ErrorCode kNoDisplay{"gui.no_display"};

struct Request {
  RenderRequest render;
  std::optional<std::string> profile;  ///< by name or file
  bool to_file = false;
  std::optional<ThemeKind> theme;
};

/// Status to end with; none: go on.
std::optional<int> parse(int argc, char** argv, Request& request) {
  CLI::App app{"Looks at recorded GPU jobs beside what other training-pipeline schedules would do to them.",
               "interlace-gui"};
  app.formatter(interlace::cli::help_for_terminal());
  app.set_version_flag("--version", "interlace-gui " INTERLACE_VERSION);
  std::vector<std::string> recordings;
  std::string out;
  std::string size;
  app.add_option("TRACE", recordings,
                 "Recordings of one run: PyTorch-profiler traces, one a rank, .ilt files, or folders of them");
  app.add_option("--schedule", request.render.schedules,
                 "Schedules to predict: built-in names, JSON files, or \"all\" that apply")
      ->type_name("NAME|FILE|all");
  app.add_option(
         "--profile", request.profile,
         "How the recorded code annotates its stages: torchrec, interlace (the engine's) or a JSON file; the one "
         "of the two that fits where absent")
      ->type_name("NAME|FILE");
  app.add_option("--render", out,
                 "Draw measured beside predicted into a file (.png, .svg, .pdf) and end; needs no display")
      ->type_name("FILE");
  app.add_option("--size", size, "Of the picture: 1920x1080 where absent")->type_name("WxH");
  app.add_option("--steps", request.render.options.steps,
                 "Training steps that the picture shows, at most as many as there are: 1 where absent")
      ->check(CLI::Range(1, 1000));
  bool without_memory = false;
  app.add_flag("--critical-path", request.render.options.critical_path, "The picture shows what each step hangs on");
  app.add_flag("--idle", request.render.options.idle, "The picture shows why devices do nothing");
  app.add_flag("--no-memory", without_memory, "The picture leaves memory curves out");
  const std::map<std::string, ColourBy> colours = {{"stage", ColourBy::kStage},
                                                   {"batch", ColourBy::kBatch},
                                                   {"kind", ColourBy::kKind},
                                                   {"stream", ColourBy::kStream}};
  const std::map<std::string, ThemeKind> themes = {{"light", ThemeKind::kLight}, {"dark", ThemeKind::kDark}};
  std::string colour_by = "stage";
  std::string theme_kind;
  app.add_option("--colour", colour_by, "What colours say: stage where absent")->check(CLI::IsMember(&colours));
  app.add_option("--theme", theme_kind, "Of window and picture: light where absent")->check(CLI::IsMember(&themes));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return interlace::end_of_parsing(app, error);
  }
  request.to_file = !out.empty();
  request.render.options.memory = !without_memory;
  request.render.out = out;
  request.render.recordings.assign(recordings.begin(), recordings.end());
  request.render.options.colour_by = colours.at(colour_by);
  if (!theme_kind.empty()) request.theme = themes.at(theme_kind);
  if (request.theme) request.render.options.theme = *request.theme;
  if (!size.empty()) set_size(request.render.options, size);
  return std::nullopt;
}

bool has_display() {
  return !qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM") || !qEnvironmentVariableIsEmpty("DISPLAY") ||
         !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
}

int run(int argc, char** argv) {
  Request request;
  if (const auto status = parse(argc, argv, request)) return *status;
  if (request.profile) request.render.profile = interlace::stages::load_profile(*request.profile);
  if (request.to_file) {
    if (!has_display()) qputenv("QT_QPA_PLATFORM", "offscreen");
    const QGuiApplication application(argc, argv);
    for (const std::string& remark : render(request.render)) std::cerr << remark << '\n';
    return kSuccess;
  }
  if (!has_display()) {
    throw interlace::Error(kNoDisplay, "", "there is no display", "write a picture with --render FILE instead");
  }
  const QApplication application(argc, argv);
  QCoreApplication::setOrganizationName(QStringLiteral("interlace"));
  QCoreApplication::setApplicationName(QStringLiteral("interlace-gui"));
  MainWindow window;
  if (request.theme) window.set_theme(*request.theme);
  window.use_profile(std::move(request.render.profile));
  window.show();
  if (!request.render.recordings.empty()) window.open(request.render.recordings, request.render.schedules);
  return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << (dynamic_cast<const interlace::Error*>(&error) == nullptr ? "error: " : "") << error.what() << '\n';
  }
  return kFailure;
}
