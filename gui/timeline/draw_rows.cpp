#include "gui/timeline/draw_rows.hpp"

#include <QBrush>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

namespace interlace::gui {

namespace {

using trace::OperationKind;

/// Fill and text of a colour class.
struct Fill {
  QColor work;
  QColor work_text;
  QColor span;  ///< ranges, in which the work lies
  std::array<QColor, 4> folded;
};

std::vector<Fill> fills(const Colouring& colouring, const Theme& theme) {
  constexpr double kSpan = 0.42;
  constexpr double kFaintest = 0.35;
  std::vector<Fill> all;
  for (const ColourEntry& entry : colouring.classes) {
    Fill fill;
    fill.work = entry.colour ? to_qcolor(*entry.colour) : theme.neutral;
    fill.work_text = text_on(fill.work);
    fill.span = mixed(fill.work, theme.background, kSpan);
    for (std::size_t i = 0; i < fill.folded.size(); ++i) {
      const double part = static_cast<double>(i + 1) / static_cast<double>(fill.folded.size());
      fill.folded[i] = mixed(fill.work, theme.background, kFaintest + (1 - kFaintest) * part);
    }
    all.push_back(fill);
  }
  return all;
}

bool is_span(OperationKind kind) { return kind == OperationKind::kRange || kind == OperationKind::kDeviceRange; }

struct Label {
  QRect box;
  trace::OperationId operation;
  const QColor* colour = nullptr;
};

void keep_widest(std::vector<Label>& labels, std::size_t most) {
  if (labels.size() <= most) return;
  std::ranges::nth_element(labels, labels.begin() + static_cast<std::ptrdiff_t>(most), std::greater{},
                           [](const Label& label) { return label.box.width(); });
  labels.resize(most);
}

void draw_labels(QPainter& painter, const std::vector<Label>& labels, LabelCache& cache) {
  constexpr int kPadding = 3;
  std::map<int, QFont> fonts;  // by height of the row
  for (const Label& label : labels) {
    const auto [found, is_new] = fonts.try_emplace(label.box.height());
    if (is_new) found->second = label_font(label.box.height());
    const QFont& font = found->second;
    const QStaticText* text = cache.text(label.operation, font, label.box.width() - 2 * kPadding);
    if (text == nullptr) continue;
    painter.setFont(font);
    painter.setPen(*label.colour);
    const double y = label.box.top() + (label.box.height() - text->size().height()) / 2;
    painter.drawStaticText(QPointF(label.box.left() + kPadding, std::round(y)), *text);
  }
}

}  // namespace

QFont label_font(double row_height) {
  constexpr double kOfRow = 0.6;
  constexpr int kSmallest = 8;
  constexpr int kLargest = 12;
  QFont font;
  font.setPixelSize(std::clamp(static_cast<int>(std::lround(row_height * kOfRow)), kSmallest, kLargest));
  return font;
}

std::vector<PlacedBox> boxes_in_sight(const PaneContent& content, double height) {
  std::vector<PlacedBox> placed;
  std::vector<Box> boxes;
  const Viewport view = content.trace_view();
  for (const PlacedRow& row : content.placement->rows) {
    const double top = row.top - content.scroll;
    if (top + row.height <= 0 || top >= height) continue;
    boxes.clear();
    append_boxes(content.scene->trace(), content.scene->row(row.row), content.scene->pyramid(row.row), view,
                 content.colouring->class_of, boxes);
    for (const Box& box : boxes) placed.push_back({box, top, row.height});
  }
  return placed;
}

QRect pixels_of(const PlacedBox& placed, const QRectF& plot) {
  constexpr double kBeyond = 4;  // edges further out are not worth their digits
  const double left = std::max(placed.box.left, -kBeyond);
  const double right = std::min(placed.box.right, plot.width() + kBeyond);
  const int from = static_cast<int>(std::lround(plot.left() + left));
  int width = std::max(1, static_cast<int>(std::lround(plot.left() + right)) - from);
  if (width > 3 && !placed.box.folded) --width;
  const int top = static_cast<int>(std::lround(plot.top() + placed.top));
  const int bottom = static_cast<int>(std::lround(plot.top() + placed.top + placed.height));
  return {from, top, width, std::max(1, bottom - top - 1)};
}

void draw_rows(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme,
               LabelCache& cache) {
  constexpr int kLeastForLabel = 26;
  constexpr int kLeastHeightForLabel = 9;
  constexpr int kLeastForHatch = 5;
  const std::vector<Fill> colours = fills(*content.colouring, theme);
  const trace::Trace& trace = content.scene->trace();
  const QBrush hatch(mixed(theme.background, theme.text, 0.5), Qt::BDiagPattern);
  const int plot_left = static_cast<int>(plot.left());
  std::vector<Label> labels;
  std::vector<QRect> found;
  for (const PlacedBox& placed : boxes_in_sight(content, plot.height())) {
    const QRect pixels = pixels_of(placed, plot);
    const Fill& fill = colours[placed.box.colour];
    const bool is_hit = content.hits != nullptr && content.hits->matches(trace.names()[placed.box.operation.index()]);
    if (is_hit) found.push_back(pixels);
    if (placed.box.folded) {
      const auto shade = static_cast<std::size_t>(std::lround(placed.box.coverage * 4)) - 1;
      painter.fillRect(pixels, fill.folded[shade]);
      continue;
    }
    const OperationKind kind = trace.kind(placed.box.operation);
    const bool span = is_span(kind);
    painter.fillRect(pixels, span ? fill.span : fill.work);
    // A host that is blocked does nothing: hatched.
    if (kind == OperationKind::kHostSync && pixels.width() >= kLeastForHatch) painter.fillRect(pixels, hatch);
    if (pixels.width() < kLeastForLabel || pixels.height() < kLeastHeightForLabel) continue;
    const QRect in_sight =
        pixels.intersected(QRect(plot_left, pixels.top(), static_cast<int>(plot.width()), pixels.height()));
    labels.push_back({in_sight, placed.box.operation, span ? &theme.text : &fill.work_text});
  }
  for (const QRect& box : found) painter.fillRect(box.left(), box.bottom() - 2, box.width(), 3, theme.hit);
  keep_widest(labels, kMostLabels);
  draw_labels(painter, labels, cache);
}

}  // namespace interlace::gui
