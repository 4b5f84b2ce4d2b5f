#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/schedule/json_fields.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::schedule {

/// Turns the objects of "iteration" into steps. Where a word is unknown but close to a known one, the step is read as
/// if that one stood there, so that one slip is not reported again as its consequences.
class StepReader {
 public:
  /// iteration: an array; used to learn the names of events before the first step is read. Streams of `schedule` must
  /// be complete. All references must outlive the reader.
  StepReader(const Schedule& schedule, const LocatedJson::Array& iteration, std::vector<Problem>& problems);

  [[nodiscard]] std::vector<Step> read(const LocatedJson::Array& steps);

  /// See ReadSchedule::complete.
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  std::optional<Step> read_step(const LocatedJson& json);
  std::optional<StageStep> read_stage(const LocatedJson::Object& object, int line);
  std::optional<WaitStep> read_wait(const LocatedJson::Object& object, int line);
  std::optional<RecordStep> read_record(const LocatedJson::Object& object, int line);
  std::optional<ForEachModule> read_for_each(const LocatedJson::Object& object, int line);

  std::optional<Stage> stage_word(const std::string& word, int line);
  void read_options(JsonFields& fields, StageStep& step);
  void read_options_of_one_stage(JsonFields& fields, StageStep& step);
  void read_waiter(JsonFields& fields, WaitStep& step);
  std::optional<StreamIndex> take_stream(JsonFields& fields, std::string_view key);
  std::vector<StreamIndex> take_streams(JsonFields& fields, std::string_view key);
  std::optional<StreamIndex> stream_of(JsonFields& fields, std::string_view key, const std::string& name);
  void collect_events(const LocatedJson::Array& steps);

  const Schedule& schedule_;
  std::vector<Problem>& problems_;
  std::vector<std::string_view> stream_names_;
  std::vector<std::string_view> event_names_;
  bool in_for_each_ = false;
  bool complete_ = true;
};

}  // namespace interlace::schedule
