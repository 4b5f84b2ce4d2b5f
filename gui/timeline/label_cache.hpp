#pragma once

#include <QFont>
#include <QStaticText>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "simulator/trace/trace.hpp"

namespace interlace::gui {

/// Names of operations laid out for one font, cut to the room there is: layout costs more than all else that is drawn.
/// For one trace.
class LabelCache {
 public:
  explicit LabelCache(const trace::Trace& trace) : trace_(&trace) {}

  /// The name of `op`, cut with "…" to fit into `width` pixels. Null where not even three letters fit. Valid until the
  /// next call.
  [[nodiscard]] const QStaticText* text(trace::OperationId op, const QFont& font, double width);

 private:
  struct Name {
    QString text;
    std::vector<float> width_of_first;  ///< [n]: pixels of the first n + 1 letters
  };
  const Name& name_of(trace::OperationId op, const QFont& font);

  const trace::Trace* trace_;
  QFont font_;
  float ellipsis_width_ = 0;
  std::unordered_map<std::uint32_t, Name> names_;         ///< by StringId
  std::unordered_map<std::uint64_t, QStaticText> texts_;  ///< by StringId and number of letters
};

}  // namespace interlace::gui
