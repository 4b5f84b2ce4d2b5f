#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "simulator/trace/trace.hpp"

namespace interlace::analysis {

/// What the name of an annotation says: "## backward 28 ##", "backward 28" -> stage "backward", batch 28.
struct StageLabel {
  std::string_view stage;             ///< a view into the name
  std::optional<std::int64_t> batch;  ///< none where the name ends in no number

  auto operator<=>(const StageLabel&) const = default;
};

/// Takes the name of an annotation apart. Also "ProfilerStep#28" -> "ProfilerStep", 28.
[[nodiscard]] StageLabel stage_label(std::string_view name);

/// Whether a label names this stage, with or without a qualifier ("backward", "backward.dense", "backward[ebc]").
[[nodiscard]] bool is_stage(std::string_view label, std::string_view word);

/// Which annotations (host ranges of RangeKind::kAnnotation) hold which operations. The trace must outlive it.
///
/// Host work lies in the annotations of its own thread at its start. Work of a thread without annotations of its own,
/// as autograd's, lies in those that the rank's main thread was in at that moment; the main thread of a rank is the
/// one that spends most time in annotations. Device work lies where its launch lies.
class Annotations {
 public:
  explicit Annotations(const trace::Trace& trace);

  /// The innermost annotation around host work, device work or another annotation. None where there is none.
  [[nodiscard]] std::optional<trace::OperationId> innermost(trace::OperationId op) const;
  /// The innermost annotation of the rank's main thread at time t.
  [[nodiscard]] std::optional<trace::OperationId> on_main_thread(trace::RankId rank, Nanoseconds t) const;
  /// The host thread of a rank that spends most time in annotations. None where no thread has any.
  [[nodiscard]] std::optional<trace::LaneId> main_thread(trace::RankId rank) const;

  /// The stage that an operation belongs to: of the annotations around it the innermost one with a batch number, on
  /// its own thread before the main thread; failing that the outermost. An annotation with a number names itself.
  [[nodiscard]] std::optional<StageLabel> stage_of(trace::OperationId op) const;
  /// The stage of the label of the innermost annotation, or of stage_of() where that one only names a module
  /// ("[weighted]"), which many stages hold. Empty outside all; a view into the trace.
  [[nodiscard]] std::string_view place_of(trace::OperationId op) const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  [[nodiscard]] std::optional<trace::OperationId> own_thread(trace::OperationId host_work) const;
  void sweep(trace::LaneId thread);

  const trace::Trace* trace_;
  std::vector<std::uint32_t> enclosing_;                      ///< an operation: annotation of its own thread, or kNone
  std::vector<std::vector<trace::OperationId>> annotations_;  ///< a lane: its annotations by start
  std::vector<std::optional<trace::LaneId>> main_thread_;     ///< a rank
};

}  // namespace interlace::analysis
