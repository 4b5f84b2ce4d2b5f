#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/trace/operation.hpp"

namespace interlace::gui {

/// Which stage of which batch each operation of a trace belongs to, as far as it is known. 3 bytes an operation.
class Tags {
 public:
  explicit Tags(std::size_t operations) : stage_of_(operations, 0), batch_of_(operations, kNoBatch) {}

  /// A number for a stage's name: the same for the same name. From the 255th name on all are "other stages".
  std::uint8_t stage_number(std::string_view name);
  /// `stage`: as stage_number() gave it.
  void set_stage(trace::OperationId op, std::uint8_t stage) { stage_of_[op.index()] = stage; }
  /// Batches beyond 16 bits have none.
  void set_batch(trace::OperationId op, std::int64_t batch);

  /// Names by number; [0] stands for no stage.
  [[nodiscard]] const std::vector<std::string>& stages() const { return stages_; }
  /// 0: none.
  [[nodiscard]] std::uint8_t stage_of(trace::OperationId op) const { return stage_of_[op.index()]; }
  [[nodiscard]] std::optional<std::int32_t> batch_of(trace::OperationId op) const;

 private:
  static constexpr std::int16_t kNoBatch = INT16_MIN;

  std::vector<std::string> stages_ = {""};
  std::vector<std::uint8_t> stage_of_;
  std::vector<std::int16_t> batch_of_;
};

}  // namespace interlace::gui
