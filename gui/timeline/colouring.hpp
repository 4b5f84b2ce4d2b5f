#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/theme/palette.hpp"
#include "gui/timeline/boxes.hpp"
#include "gui/timeline/lanes.hpp"
#include "gui/timeline/tags.hpp"

namespace interlace::gui {

/// What the colour of an operation says.
enum class ColourBy : std::uint8_t { kStage, kBatch, kKind, kStream };
[[nodiscard]] std::string_view to_string(ColourBy by);

struct ColourEntry {
  std::string name;
  std::optional<Rgb> colour;    ///< none: the theme's neutral colour
  std::int64_t operations = 0;  ///< of this class
  bool overlay = false;         ///< of something that is drawn over operations

  bool operator==(const ColourEntry&) const = default;
};

/// A colour class for each operation; class 0 is "none of these". Equal names have equal colours in all traces, so that
/// a measured and a predicted one can be compared.
struct Colouring {
  ColourBy by = ColourBy::kStage;
  std::vector<ColourClass> class_of;             ///< by operation
  std::vector<std::vector<ColourClass>> by_row;  ///< the same again, by row and position in it
  std::vector<ColourEntry> classes;

  [[nodiscard]] const ColourEntry& entry_of(trace::OperationId op) const { return classes[class_of[op.index()]]; }
};

/// aligned_batch: by batch, the one that colours and names are counted from, since traces count batches each for
/// itself.
[[nodiscard]] Colouring colour(const trace::Trace& trace, const Lanes& lanes, const Tags& tags, ColourBy by,
                               std::int32_t aligned_batch = 0);

}  // namespace interlace::gui
