#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace interlace::testing {

/// Writes the text of a small Kineto file. Times are texts, as the file has them: microseconds with decimals.
class KinetoText {
 public:
  KinetoText& field(std::string_view name, std::string_view json) {
    std::string text = "\"";
    text.append(name).append("\": ").append(json);
    fields_.push_back(std::move(text));
    return *this;
  }
  KinetoText& rank(int rank, int world_size) {
    return field("distributedInfo",
                 "{\"rank\": " + std::to_string(rank) + ", \"world_size\": " + std::to_string(world_size) + "}");
  }
  /// The text of one event, as it is.
  KinetoText& event(std::string_view json) {
    events_.emplace_back(json);
    return *this;
  }
  /// An event of phase X. args: the inside of the object, such as `"stream": 7`.
  KinetoText& complete(std::string_view category, std::string_view name, std::string_view process,
                       std::string_view thread, std::string_view at, std::string_view duration,
                       std::string_view args = "") {
    std::string text = R"({"ph": "X", "cat": ")";
    text.append(category).append(R"(", "name": ")").append(name);
    text.append(R"(", "pid": )").append(process).append(R"(, "tid": )").append(thread);
    text.append(R"(, "ts": )").append(at).append(R"(, "dur": )").append(duration);
    if (!args.empty()) text.append(R"(, "args": {)").append(args).append("}");
    return event(text.append("}"));
  }
  KinetoText& call(std::string_view name, std::string_view at, std::string_view duration, int correlation) {
    return complete("cuda_runtime", name, "100", "101", at, duration,
                    R"("cbid": 1, "correlation": )" + std::to_string(correlation));
  }
  KinetoText& kernel(std::string_view name, int stream, std::string_view at, std::string_view duration, int correlation,
                     std::string_view more_args = "") {
    std::string args = R"("device": 0, "context": 1, "stream": )" + std::to_string(stream);
    args += R"(, "correlation": )" + std::to_string(correlation) + R"(, "grid": [4, 2, 1], "block": [128, 1, 1])";
    if (!more_args.empty()) args += ", " + std::string(more_args);
    return complete("kernel", name, "0", std::to_string(stream), at, duration, args);
  }
  KinetoText& annotation(std::string_view name, std::string_view at, std::string_view duration) {
    return complete("user_annotation", name, "100", "101", at, duration);
  }

  [[nodiscard]] std::string text() const {
    std::string text = "{\n";
    for (const std::string& field : fields_) text.append("  ").append(field).append(",\n");
    text.append("  \"traceEvents\": [\n");
    for (std::size_t i = 0; i < events_.size(); ++i) {
      text.append("  ").append(events_[i]).append(i + 1 < events_.size() ? ",\n" : "\n");
    }
    return text.append("  ],\n  \"traceName\": \"test.json\"\n}\n");
  }

 private:
  std::vector<std::string> fields_;
  std::vector<std::string> events_;
};

}  // namespace interlace::testing
