#include "cupti_collector/record/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace interlace::collector {

namespace {

/// 1234567 -> "1,234,567"
std::string grouped(std::int64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string text;
  constexpr std::size_t kGroup = 3;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % kGroup == 0) text.push_back(',');
    text.push_back(digits[i]);
  }
  return text;
}

std::string size_in_words(std::int64_t bytes) {
  constexpr double kStep = 1000;
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  if (bytes < 1000 * 1000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / kStep);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / kStep / kStep);
}

std::string account(const trace::LedgerRow& row) {
  std::string text =
      fmt::format("{} launched = {} recorded + {} untimed + {} refused + {} undelivered", grouped(row.launched),
                  grouped(row.recorded), grouped(row.untimed), grouped(row.refused), grouped(row.undelivered));
  if (row.pending > 0) text += fmt::format(" + {} under way", grouped(row.pending));
  if (row.dropped > 0) text += fmt::format("; {} records dropped for want of buffers", grouped(row.dropped));
  return text;
}

void add_file(const RecordedFile& file, std::string& text) {
  const trace::SessionFacts& facts = file.facts;
  text += fmt::format("{} {}: ", file.is_whole() ? " " : "  NOT OK", file.path.filename().string());
  if (!file.problem.empty()) {
    text += file.problem + "\n";
    return;
  }
  const std::int64_t process = facts.ranks.empty() ? 0 : facts.ranks.front().process_id;
  text += fmt::format("process {}, {} operations, {}\n", process, grouped(facts.operations),
                      size_in_words(facts.file_bytes));
  for (const trace::LedgerRow& row : facts.ledger) text += fmt::format("    {}\n", account(row));
  if (file.is_in_use) text += "    its process still runs; the file grows on\n";
  if (!file.write_failure.empty()) text += "    it could not be written further: what was written before is kept\n";
  if (file.ended_abruptly) text += "    its process ended without closing it; what was written is whole and is kept\n";
}

/// Each once, with the processes that left it.
std::string notes(const std::vector<LogLine>& log) {
  std::string text;
  std::set<std::string_view> told;
  for (const LogLine& line : log) {
    if (line.kind != "note" || !told.insert(line.text).second) continue;
    std::set<std::int64_t> processes;
    for (const LogLine& other : log) {
      if (other.kind == "note" && other.text == line.text) processes.insert(other.process);
    }
    text += fmt::format("  note ({}, process{} {}): {}\n", line.program, processes.size() > 1 ? "es" : "",
                        fmt::join(processes, ", "), line.text);
  }
  return text;
}

}  // namespace

std::string summary(const std::filesystem::path& folder, const ProgramEnd& program,
                    const std::vector<RecordedFile>& files, const std::vector<LogLine>& log, bool has_driver,
                    Telling telling) {
  const bool is_all = telling == Telling::kAll;
  std::string text;
  for (const RecordedFile& file : files) {
    if (is_all || !file.is_whole()) add_file(file, text);
  }
  text += notes(log);
  if (!files.empty()) {
    if (is_all) text += fmt::format("  next: interlace info {}\n", folder.string());
  } else if (std::ranges::any_of(log, [](const LogLine& line) { return line.kind == "process"; })) {
    text += "  NOT OK: nothing was recorded: the program used CUDA, but no device work became known\n";
  } else if (!has_driver) {
    text += "  NOT OK: nothing was recorded: this machine has no CUDA driver (libcuda.so.1)\n";
  } else {
    text += "  NOT OK: nothing was recorded: no process of the program used CUDA\n";
  }
  if (text.empty()) return text;
  return fmt::format("interlace record: the program ended {} after {:.1f} s\n", program.in_words(), program.seconds) +
         text;
}

}  // namespace interlace::collector
