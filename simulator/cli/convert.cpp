#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "simulator/cli/errors.hpp"
#include "simulator/cli/recording.hpp"
#include "simulator/cli/subcommands.hpp"
#include "simulator/report/chrome_trace.hpp"
#include "simulator/report/file_output.hpp"
#include "simulator/trace/ilt/writer.hpp"

namespace interlace::cli {

namespace {

struct ConvertOptions {
  std::vector<std::string> files;
  std::vector<std::string> memory_snapshots;
  std::string output;
};

void write_chrome(const trace::Trace& trace, const std::filesystem::path& file) {
  const std::vector<report::ChromeRun> runs{{.trace = &trace}};
  report::write_file(file, [&](std::ostream& out) { report::write_chrome_trace(out, runs); });
}

void write_recording(const ingest::Recording& recording, const std::filesystem::path& file) {
  report::write_file(
      file, [&](std::ostream& out) { trace::write_ilt(recording.trace, recording.diagnostics, out, file.string()); });
}

void run_convert(const ConvertOptions& options, Console& console) {
  const std::filesystem::path output = options.output;
  const bool is_chrome = options.output.ends_with(".json") || options.output.ends_with(".json.gz");
  if (!is_chrome && !options.output.ends_with(".ilt")) {
    throw Error(kUnknownOutput, options.output, "the name does not tell which format to write",
                "end it in .ilt, .json or .json.gz");
  }
  refuse_overwriting(options.output, options.files);
  refuse_overwriting(options.output, options.memory_snapshots);
  const ingest::Recording recording = read_recording(options.files, options.memory_snapshots, console);
  console.progress("writing " + options.output);
  if (is_chrome) {
    write_chrome(recording.trace, output);
  } else {
    write_recording(recording, output);
  }
  console.flaws(recording.diagnostics.entries());
}

}  // namespace

void add_convert(CLI::App& app, Action& chosen) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App* convert = app.add_subcommand("convert", "Write recordings as one file in another format");
  convert->add_option("files", options->files, kRecordingsHelp)->required()->type_name("FILE|DIR");
  add_memory_snapshots(*convert, options->memory_snapshots);
  convert
      ->add_option("-o,--output", options->output, "File to write; its ending tells the format: .ilt, .json, .json.gz")
      ->required()
      ->type_name("FILE");
  convert->callback([options, &chosen] { chosen = [options](Console& console) { run_convert(*options, console); }; });
}

}  // namespace interlace::cli
