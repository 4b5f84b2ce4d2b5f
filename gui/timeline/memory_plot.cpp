#include "gui/timeline/memory_plot.hpp"

#include <QObject>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "gui/theme/font.hpp"
#include "gui/timeline/lanes.hpp"
#include "gui/timeline/pane.hpp"
#include "gui/timeline/ticks.hpp"
#include "simulator/report/text.hpp"

namespace interlace::gui {

namespace {

using analysis::MemoryCurve;

QColor pool_colour(std::size_t pool) {
  const auto colours = categorical_colours();
  return to_qcolor(colours[pool % colours.size()]);
}

/// What is drawn, from the bottom: what is always there, then the pools.
class Stack {
 public:
  Stack(const MemoryPlot& plot, const QRectF& area)
      : plot_(plot),
        area_(area),
        px_per_byte_(area.height() / static_cast<double>(plot.top)),
        moments_(fullest_moments(*plot.curve, plot.trace_view(), plot.trace->length())) {}

  void draw(QPainter& painter, const Theme& theme) const {
    const MemoryCurve& curve = *plot_.curve;
    if (!curve.allocated.empty()) areas(painter, theme);
    if (!curve.active.empty()) line(painter, curve.active, QPen(theme.text, 1, Qt::DotLine));
    if (!curve.reserved.empty()) line(painter, curve.reserved, QPen(theme.bad, 1.4));
  }

  [[nodiscard]] double y_of(Bytes bytes) const { return area_.bottom() - static_cast<double>(bytes) * px_per_byte_; }

 private:
  void areas(QPainter& painter, const Theme& theme) const {
    const MemoryCurve& curve = *plot_.curve;
    std::vector<Bytes> below(moments_.size(), 0);
    fill(
        painter, below, [&](std::size_t) { return curve.persistent; }, theme.neutral);
    for (std::size_t pool = 0; pool < curve.pools.size(); ++pool) {
      fill(
          painter, below, [&](std::size_t moment) { return curve.pools[pool].allocated[moment]; }, pool_colour(pool));
    }
    fill(
        painter, below, [&](std::size_t moment) { return of_no_pool(curve, moment); }, pool_colour(curve.pools.size()));
  }

  /// An area a pixel wide each, from what lies below; adds to it.
  template <class Value>
  void fill(QPainter& painter, std::vector<Bytes>& below, Value value, const QColor& colour) const {
    for (std::size_t x = 0; x < moments_.size(); ++x) {
      if (!moments_[x]) continue;
      const Bytes bytes = std::max<Bytes>(value(*moments_[x]), 0);
      const double bottom = std::round(y_of(below[x]));
      below[x] += bytes;
      const double top = std::round(y_of(below[x]));
      // Neighbours of one height are one rectangle.
      std::size_t end = x + 1;
      while (end < moments_.size() && moments_[end] == moments_[x]) below[end++] += bytes;
      if (bottom > top) {
        painter.fillRect(QRectF(area_.left() + static_cast<double>(x), top, static_cast<double>(end - x), bottom - top),
                         colour);
      }
      x = end - 1;
    }
  }

  void line(QPainter& painter, const std::vector<Bytes>& values, const QPen& pen) const {
    QPainterPath path;
    bool begun = false;
    for (std::size_t x = 0; x < moments_.size(); ++x) {
      if (!moments_[x] ||
          (x > 0 && x + 1 < moments_.size() && moments_[x - 1] == moments_[x] && moments_[x + 1] == moments_[x])) {
        continue;
      }
      const double y = std::round(y_of(values[*moments_[x]])) + 0.5;
      const double left = area_.left() + static_cast<double>(x);
      begun ? path.lineTo(left, y) : path.moveTo(left, y);
      path.lineTo(left + 1, y);
      begun = true;
    }
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
  }

  const MemoryPlot& plot_;
  QRectF area_;
  double px_per_byte_;
  std::vector<std::optional<std::size_t>> moments_;
};

struct Named {
  QString name;
  QString value;
  QColor colour;
};

/// The numbers beside the curves: at a moment, or the peaks.
std::vector<Named> numbers(const MemoryPlot& plot, std::optional<std::size_t> moment, bool with_active,
                           const Theme& theme) {
  const MemoryCurve& curve = *plot.curve;
  const auto value = [&](const std::vector<Bytes>& values) {
    return bytes_text(moment ? values[*moment] : *std::ranges::max_element(values));
  };
  std::vector<Named> all;
  if (!curve.reserved.empty()) all.push_back({QObject::tr("reserved"), value(curve.reserved), theme.bad});
  if (!curve.active.empty() && with_active) all.push_back({QObject::tr("active"), value(curve.active), theme.text});
  if (curve.allocated.empty()) {
    all.push_back({QObject::tr("allocated"), QObject::tr("not recorded"), theme.dim_text});
  } else {
    all.push_back({QObject::tr("allocated"), value(curve.allocated), theme.text});
  }
  return all;
}

void draw_names(QPainter& painter, const MemoryPlot& plot, std::optional<std::size_t> moment, const QRectF& area,
                const Theme& theme) {
  constexpr double kRoomyLine = 15;
  constexpr double kRoomForActive = 47;  // what PyTorch still needs: mostly close to what is allocated
  constexpr double kIndent = 22;
  constexpr double kValue = 88;
  const trace::Rank& rank = plot.trace->ranks()[plot.curve->rank.index()];
  const std::vector<Named> lines = numbers(plot, moment, area.height() >= kRoomForActive, theme);
  const double height = std::min(kRoomyLine, (area.height() - 4) / static_cast<double>(lines.size() + 1));
  QRectF line(area.left() + kIndent, area.top() + 3, kLabelWidth - kIndent - 4, height);
  painter.setFont(sized(11, true));
  painter.setPen(theme.text);
  painter.drawText(
      line.adjusted(0, -2, 0, 2), Qt::AlignLeft | Qt::AlignVCenter,
      moment ? QObject::tr("memory, rank %1").arg(rank.number) : QObject::tr("memory peaks, rank %1").arg(rank.number));
  painter.setFont(sized(10));
  for (const Named& of : lines) {
    line.translate(0, height);
    painter.setPen(of.colour);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, of.name);
    painter.drawText(line.adjusted(kValue - kIndent, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, of.value);
  }
}

/// Which colour is which pool, in the upper right corner.
void draw_pools(QPainter& painter, const MemoryPlot& plot, std::optional<std::size_t> moment, const QRectF& area,
                const Theme& theme) {
  constexpr double kSwatch = 9;
  constexpr double kApart = 14;
  if (plot.curve->allocated.empty()) return;
  std::vector<Named> entries;
  entries.push_back({QObject::tr("always there"), bytes_text(plot.curve->persistent), theme.neutral});
  for (std::size_t pool = 0; pool < plot.curve->pools.size(); ++pool) {
    const analysis::PoolCurve& of = plot.curve->pools[pool];
    if (of.allocated.empty() || *std::ranges::max_element(of.allocated) == 0) continue;
    const Bytes bytes = moment ? of.allocated[*moment] : *std::ranges::max_element(of.allocated);
    entries.push_back({pool_name(*plot.trace, of), bytes_text(bytes), pool_colour(pool)});
  }
  Bytes rest = 0;
  Bytes most = 0;
  for (std::size_t i = 0; i < plot.curve->at.size(); ++i) {
    const Bytes bytes = of_no_pool(*plot.curve, i);
    most = std::max(most, bytes);
    if (!moment || i == *moment) rest = std::max(rest, bytes);
  }
  if (most > 0) {
    entries.push_back({QObject::tr("of streams not told"), bytes_text(rest), pool_colour(plot.curve->pools.size())});
  }
  const QFont font = sized(10);
  const QFontMetricsF metrics(font);
  double width = kApart;
  for (const Named& entry : entries) {
    width += kSwatch + 5 + metrics.horizontalAdvance(entry.name + QLatin1Char(' ') + entry.value) + kApart;
  }
  if (width > area.width()) return;
  QColor behind = theme.background;
  behind.setAlphaF(0.82F);
  double x = area.right() - width;
  painter.fillRect(QRectF(x, area.top() + 1, width, 16), behind);
  painter.setFont(font);
  x += kApart;
  for (const Named& entry : entries) {
    painter.fillRect(QRectF(x, area.top() + 5, kSwatch, kSwatch), entry.colour);
    const QString text = entry.name + QLatin1Char(' ') + entry.value;
    painter.setPen(theme.text);
    painter.drawText(QRectF(x + kSwatch + 5, area.top() + 1, width, 16), Qt::AlignLeft | Qt::AlignVCenter, text);
    x += kSwatch + 5 + metrics.horizontalAdvance(text) + kApart;
  }
}

}  // namespace

std::optional<std::size_t> MemoryPlot::moment_at_cursor() const {
  if (!cursor) return std::nullopt;
  const Nanoseconds t = trace_view().time_at(*cursor);
  return t > trace->length() ? std::nullopt : curve->moment_at(t);
}

std::vector<std::optional<std::size_t>> fullest_moments(const MemoryCurve& curve, const Viewport& trace_view,
                                                        Nanoseconds until) {
  const auto width = static_cast<std::size_t>(std::max(0.0, std::ceil(trace_view.width)));
  std::vector<std::optional<std::size_t>> moments(width);
  if (curve.at.empty()) return moments;
  const std::vector<Bytes>& values = curve.allocated.empty() ? curve.reserved : curve.allocated;
  std::size_t next = 0;  // the first moment behind the pixel
  for (std::size_t x = 0; x < width; ++x) {
    const double begin = trace_view.ns_at(static_cast<double>(x));
    const double end = trace_view.ns_at(static_cast<double>(x + 1));
    if (begin > static_cast<double>(until)) break;
    if (x == 0) {
      const auto first = std::ranges::lower_bound(curve.at, static_cast<Nanoseconds>(std::ceil(begin)));
      next = static_cast<std::size_t>(first - curve.at.begin());
    }
    // What holds at the pixel's left edge, and all that begins in it.
    std::optional<std::size_t> fullest;
    if (next > 0) fullest = next - 1;
    for (; next < curve.at.size() && static_cast<double>(curve.at[next]) < end; ++next) {
      if (!fullest || values[next] > values[*fullest]) fullest = next;
    }
    moments[x] = fullest;
  }
  return moments;
}

Bytes of_no_pool(const MemoryCurve& curve, std::size_t moment) {
  if (curve.allocated.empty()) return 0;
  Bytes rest = curve.allocated[moment] - curve.persistent;
  for (const analysis::PoolCurve& pool : curve.pools) {
    if (!pool.allocated.empty()) rest -= pool.allocated[moment];
  }
  return std::max<Bytes>(rest, 0);
}

double memory_height(double room) {
  constexpr double kForRows = 140;  // that the rows and what stands above them need first
  constexpr double kPart = 0.3;
  constexpr double kLeast = 40;  // three lines of names
  constexpr double kMost = 98;
  return std::round(std::clamp((room - kForRows) * kPart, kLeast, kMost));
}

Bytes most_of(const MemoryCurve& curve) {
  Bytes most = 0;
  for (const auto* values : {&curve.allocated, &curve.active, &curve.reserved}) {
    for (const Bytes bytes : *values) most = std::max(most, bytes);
  }
  return most;
}

QString pool_name(const trace::Trace& trace, const analysis::PoolCurve& pool) {
  if (!pool.stream) return QObject::tr("stream at 0x%1").arg(pool.handle, 0, 16);
  return QString::fromStdString(stream_name(trace, *pool.stream));
}

QString bytes_text(Bytes bytes) { return QString::fromStdString(report::bytes_text(bytes)); }

void draw_memory(QPainter& painter, const MemoryPlot& plot, const QRectF& area, const Theme& theme) {
  constexpr double kAbove = 18;  // for the names of the pools
  painter.save();
  painter.setClipRect(area);
  painter.fillRect(area, theme.strip);
  const QRectF right = area.adjusted(kLabelWidth, 0, 0, 0);
  painter.fillRect(right, theme.background);
  const QRectF inner = right.adjusted(0, kAbove, 0, -2);
  const Stack stack(plot, inner);
  painter.setPen(theme.faint_line);
  painter.drawLine(inner.topLeft(), inner.topRight());
  stack.draw(painter, theme);
  const std::optional<std::size_t> moment = plot.moment_at_cursor();
  draw_pools(painter, plot, moment, right, theme);
  painter.setFont(sized(10));
  painter.setPen(theme.dim_text);
  painter.drawText(QRectF(right.left() + 4, right.top() + 1, 120, 16), Qt::AlignLeft | Qt::AlignVCenter,
                   bytes_text(plot.top));
  if (plot.cursor) {
    const double x = std::floor(right.left() + *plot.cursor) + 0.5;
    painter.setPen(theme.selection);
    painter.drawLine(QPointF(x, inner.top()), QPointF(x, inner.bottom()));
  }
  draw_names(painter, plot, moment, area, theme);
  painter.setPen(theme.line);
  painter.drawLine(area.topLeft(), area.topRight());
  painter.drawLine(right.topLeft(), right.bottomLeft());
  painter.restore();
}

}  // namespace interlace::gui
