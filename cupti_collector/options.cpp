#include "cupti_collector/options.hpp"

#include <charconv>
#include <system_error>

namespace interlace::collector {

namespace {

constexpr const char* kFolder = "INTERLACE_RECORD_DIR";
constexpr const char* kRun = "INTERLACE_RECORD_RUN";
constexpr const char* kCupti = "INTERLACE_RECORD_CUPTI";
constexpr const char* kFlushPeriod = "INTERLACE_RECORD_FLUSH_NS";
constexpr const char* kBufferBytes = "INTERLACE_RECORD_BUFFER_BYTES";
constexpr const char* kBuffersLimit = "INTERLACE_RECORD_BUFFERS_BYTES";
constexpr const char* kLight = "INTERLACE_RECORD_LIGHT";
constexpr const char* kWholeGraphs = "INTERLACE_RECORD_WHOLE_GRAPHS";
constexpr const char* kBegin = "INTERLACE_RECORD_BEGIN_NS";
constexpr const char* kEnd = "INTERLACE_RECORD_END_NS";
constexpr const char* kStepName = "INTERLACE_RECORD_STEP_NAME";
constexpr const char* kSkip = "INTERLACE_RECORD_SKIP";
constexpr const char* kSteps = "INTERLACE_RECORD_STEPS";
constexpr const char* kStartsOff = "INTERLACE_RECORD_STARTS_OFF";
constexpr const char* kMostBytes = "INTERLACE_RECORD_MOST_BYTES";
constexpr const char* kMostBytesASecond = "INTERLACE_RECORD_MOST_BYTES_A_SECOND";
constexpr const char* kLast = "INTERLACE_RECORD_LAST_NS";
constexpr const char* kTeardown = "INTERLACE_RECORD_TEARDOWN_NS";

/// CUPTI wants room for some records of each kind in a buffer.
constexpr std::int64_t kSmallestBuffer = 64 << 10;

void read_number(const Variables& variable, const char* name, std::int64_t least, std::int64_t& value) {
  const char* text = variable(name);
  if (text == nullptr) return;
  const std::string_view digits(text);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < least) {
    throw Error(kBadOption, name, "'" + std::string(text) + "' is no number from " + std::to_string(least) + " on");
  }
  value = number;
}

void read_flag(const Variables& variable, const char* name, bool& value) {
  std::int64_t number = value ? 1 : 0;
  read_number(variable, name, 0, number);
  value = number != 0;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> to_environment(const Options& options) {
  return {{kFolder, options.folder.string()},
          {kRun, options.run_id},
          {kCupti, options.cupti},
          {kFlushPeriod, std::to_string(options.flush_period)},
          {kBufferBytes, std::to_string(options.buffer_bytes)},
          {kBuffersLimit, std::to_string(options.buffers_limit)},
          {kLight, options.light ? "1" : "0"},
          {kWholeGraphs, options.whole_graphs ? "1" : "0"},
          {kBegin, std::to_string(options.plan.begin)},
          {kEnd, options.plan.end ? std::to_string(*options.plan.end) : std::string()},
          {kStepName, options.plan.step_name},
          {kSkip, std::to_string(options.plan.skip)},
          {kSteps, std::to_string(options.plan.steps)},
          {kStartsOff, options.plan.starts_off ? "1" : "0"},
          {kMostBytes, std::to_string(options.most_bytes)},
          {kMostBytesASecond, std::to_string(options.most_bytes_a_second)},
          {kLast, std::to_string(options.last)}};
}

namespace {

Plan plan_from(const Variables& variable) {
  Plan plan;
  read_number(variable, kBegin, 0, plan.begin);
  if (const char* end = variable(kEnd); end != nullptr && *end != '\0') {
    read_number(variable, kEnd, plan.begin, plan.end.emplace());
  }
  if (const char* name = variable(kStepName)) plan.step_name = name;
  read_number(variable, kSkip, 0, plan.skip);
  read_number(variable, kSteps, 0, plan.steps);
  read_flag(variable, kStartsOff, plan.starts_off);
  return plan;
}

}  // namespace

Options options_from(const Variables& variable, std::filesystem::path folder) {
  Options options;
  // The program may go to another folder before there is anything to write.
  std::error_code failure;
  options.folder = std::filesystem::absolute(folder, failure);
  if (failure) options.folder = std::move(folder);  // nobody knows where it is
  if (const char* run = variable(kRun)) options.run_id = run;
  if (const char* cupti = variable(kCupti)) options.cupti = cupti;
  read_number(variable, kFlushPeriod, kMillisecond, options.flush_period);
  read_number(variable, kBufferBytes, kSmallestBuffer, options.buffer_bytes);
  read_number(variable, kBuffersLimit, options.buffer_bytes, options.buffers_limit);
  read_flag(variable, kLight, options.light);
  read_flag(variable, kWholeGraphs, options.whole_graphs);
  options.plan = plan_from(variable);
  read_number(variable, kMostBytes, 0, options.most_bytes);
  read_number(variable, kMostBytesASecond, 0, options.most_bytes_a_second);
  read_number(variable, kLast, 0, options.last);
  read_number(variable, kTeardown, 0, options.longest_teardown);
  return options;
}

std::optional<Options> options_from(const Variables& variable) {
  const char* folder = variable(kFolder);
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return options_from(variable, folder);
}

}  // namespace interlace::collector
