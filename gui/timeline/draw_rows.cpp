#include "gui/timeline/draw_rows.hpp"

#include <QBrush>
#include <QImage>
#include <QPaintEngine>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>

namespace interlace::gui {

namespace {

/// Fill and text of a colour class.
struct Fill {
  QColor work;
  QColor work_text;
  QColor span;
  std::array<QRgb, 4> folded{};  ///< by quarters covered
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
      fill.folded[i] = mixed(fill.work, theme.background, kFaintest + (1 - kFaintest) * part).rgb();
    }
    all.push_back(fill);
  }
  return all;
}

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

/// A row's narrow boxes: there can be one a pixel, too many to be filled one by one. On pixels they are painted as one
/// line that is stretched over the row; into files as what they are.
class NarrowBoxes {
 public:
  NarrowBoxes(QPainter& painter, const QRectF& plot)
      : painter_(painter),
        as_line_(painter.paintEngine()->type() == QPaintEngine::Raster),
        left_(static_cast<int>(std::lround(plot.left()))),
        line_(std::max(1, static_cast<int>(std::ceil(plot.width()))), 1, QImage::Format_ARGB32_Premultiplied) {
    line_.fill(Qt::transparent);
    pixels_ = reinterpret_cast<QRgb*>(line_.scanLine(0));
  }

  void add(const QRect& box, QRgb colour) {
    if (!as_line_) {
      painter_.fillRect(box, QColor(colour));
      return;
    }
    const int from = std::max(0, box.left() - left_);
    const int to = std::min(line_.width(), box.left() - left_ + box.width());
    if (from >= to) return;
    std::fill(pixels_ + from, pixels_ + to, colour);
    first_ = std::min(first_, from);
    end_ = std::max(end_, to);
    top_ = box.top();
    height_ = box.height();
  }

  /// Paints the row.
  void end_row() {
    if (first_ >= end_) return;
    painter_.drawImage(QRect(left_ + first_, top_, end_ - first_, height_), line_, QRect(first_, 0, end_ - first_, 1));
    std::fill(pixels_ + first_, pixels_ + end_, QRgb{0});
    first_ = line_.width();
    end_ = 0;
  }

 private:
  QPainter& painter_;
  bool as_line_;
  int left_;
  QImage line_;
  QRgb* pixels_ = nullptr;
  int first_ = line_.width();
  int end_ = 0;
  int top_ = 0;
  int height_ = 0;
};

/// Draws row after row and gathers what is drawn over them.
class RowsPainter {
 public:
  RowsPainter(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme)
      : painter_(painter),
        content_(content),
        plot_(plot),
        theme_(theme),
        fills_(fills(*content.colouring, theme)),
        hatch_(mixed(theme.background, theme.text, 0.5), Qt::BDiagPattern),
        narrow_(painter, plot) {}

  void draw(const PlacedRow& placed, const std::vector<Box>& boxes) {
    const Row& row = content_.scene->row(placed.row);
    const double top = content_.shown_at(placed.top);
    for (const Box& box : boxes) {
      const QRect pixels = pixels_of(box, top, placed.height, plot_);
      draw_box(box, pixels, row, placed.height >= kLeastHeightForLabel);
      if (content_.hits != nullptr && is_hit(row, box)) found_.push_back(pixels);
    }
    narrow_.end_row();
  }

  void draw_names(LabelCache& cache) {
    for (const QRect& box : found_) painter_.fillRect(box.left(), box.bottom() - 2, box.width(), 3, theme_.hit);
    keep_widest(labels_, kMostLabels);
    draw_labels(painter_, labels_, cache);
  }

 private:
  static constexpr int kNarrow = 4;
  static constexpr int kLeastForLabel = 26;
  static constexpr double kLeastHeightForLabel = 10;

  [[nodiscard]] bool is_hit(const Row& row, const Box& box) const {
    return content_.hits->matches(content_.scene->trace().names()[row.operations[box.position].index()]);
  }

  void draw_box(const Box& box, const QRect& pixels, const Row& row, bool with_label) {
    const Fill& fill = fills_[box.colour];
    if (box.folded) {
      narrow_.add(pixels, fill.folded[static_cast<std::size_t>(std::lround(box.coverage * 4)) - 1]);
      return;
    }
    const bool span = box.look == Look::kSpan;
    const QColor& colour = span ? fill.span : fill.work;
    if (pixels.width() < kNarrow) {
      narrow_.add(pixels, colour.rgb());
      return;
    }
    painter_.fillRect(pixels, colour);
    if (box.look == Look::kBlocked) painter_.fillRect(pixels, hatch_);
    if (!with_label || pixels.width() < kLeastForLabel) return;
    const QRect sight(static_cast<int>(plot_.left()), pixels.top(), static_cast<int>(plot_.width()), pixels.height());
    labels_.push_back({pixels.intersected(sight), row.operations[box.position], span ? &theme_.text : &fill.work_text});
  }

  QPainter& painter_;
  const PaneContent& content_;
  const QRectF& plot_;
  const Theme& theme_;
  std::vector<Fill> fills_;
  QBrush hatch_;
  NarrowBoxes narrow_;
  std::vector<Label> labels_;
  std::vector<QRect> found_;
};

/// Calls visit(row, boxes) for each row of which anything is in sight.
template <class Visit>
void for_each_row(const PaneContent& content, double height, Visit visit) {
  std::vector<Box> boxes;
  const Viewport view = content.trace_view();
  for (const PlacedRow& row : content.placement->rows) {
    const double top = content.shown_at(row.top);
    if (!content.draws(row.top) || top + row.height <= 0 || top >= height) continue;
    boxes.clear();
    append_boxes(content.scene->row(row.row), content.scene->pyramid(row.row), view, content.colouring->by_row[row.row],
                 boxes);
    visit(row, boxes);
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
  for_each_row(content, height, [&](const PlacedRow& row, const std::vector<Box>& boxes) {
    const Row& of = content.scene->row(row.row);
    for (const Box& box : boxes) {
      placed.push_back({box, of.operations[box.position], content.shown_at(row.top), row.height});
    }
  });
  return placed;
}

QRect pixels_of(const Box& box, double top, double height, const QRectF& plot) {
  constexpr double kBeyond = 4;  // edges further out are not worth their digits
  const double left = std::max(box.left, -kBeyond);
  const double right = std::min(box.right, plot.width() + kBeyond);
  const int from = static_cast<int>(std::lround(plot.left() + left));
  int width = std::max(1, static_cast<int>(std::lround(plot.left() + right)) - from);
  if (width > 3 && !box.folded) --width;
  const int upper = static_cast<int>(std::lround(plot.top() + top));
  const int lower = static_cast<int>(std::lround(plot.top() + top + height));
  return {from, upper, width, std::max(1, lower - upper - 1)};
}

void draw_rows(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme,
               LabelCache& cache) {
  RowsPainter rows(painter, content, plot, theme);
  for_each_row(content, plot.height(),
               [&](const PlacedRow& row, const std::vector<Box>& boxes) { rows.draw(row, boxes); });
  rows.draw_names(cache);
}

}  // namespace interlace::gui
