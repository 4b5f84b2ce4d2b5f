#include "gui/compare/difference.hpp"

#include <QFontMetricsF>
#include <QObject>
#include <algorithm>
#include <cstdlib>
#include <map>

#include "gui/theme/font.hpp"
#include "gui/timeline/names.hpp"
#include "gui/timeline/pane.hpp"
#include "gui/timeline/ticks.hpp"

namespace interlace::gui {

namespace {

constexpr double kNameIndent = 22;

/// The stream of the first rank that does most of the computing.
std::optional<trace::LaneId> main_stream(const Run& run) {
  for (const LaneRows& lane : run.scene().lanes().lanes) {
    if (lane.role == analysis::StreamRole::kMain) return lane.lane;
  }
  return std::nullopt;
}

std::string ahead_text(Nanoseconds ahead) {
  return duration_text(std::abs(ahead)) + (ahead >= 0 ? " ahead" : " behind");
}

/// Steps of a curve, each holding until the next: one rectangle a pixel at most.
void draw_curve(QPainter& painter, const std::vector<Lead>& leads, const Viewport& view, const QRectF& plot,
                double px_per_ns, const Theme& theme) {
  const double middle = plot.center().y();
  for (std::size_t i = 0; i < leads.size(); ++i) {
    const double left = std::max(0.0, view.x_of(leads[i].at));
    const double right = std::min(plot.width(), i + 1 < leads.size() ? view.x_of(leads[i + 1].at) : left + 2);
    if (right < left || right < 0 || left > plot.width()) continue;
    const double height = static_cast<double>(leads[i].ahead) * px_per_ns;
    const QRectF bar(plot.left() + left, std::min(middle, middle - height), std::max(1.0, right - left),
                     std::abs(height));
    painter.fillRect(bar, leads[i].ahead >= 0 ? theme.good : theme.bad);
  }
}

void draw_text(QPainter& painter, const QRectF& area, const QString& text, int pixels, bool bold,
               const QColor& colour) {
  painter.setFont(sized(pixels, bold));
  painter.setPen(colour);
  painter.drawText(area, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, text);
}

}  // namespace

std::vector<Lead> leads(const Run& measured, const Aligned& measured_part, const Run& predicted,
                        const Aligned& predicted_part, const Matching& matching) {
  std::vector<Lead> found;
  const auto stream = main_stream(measured);
  if (!stream) return found;
  const trace::Trace& trace = measured.trace();
  for (const trace::OperationId op : trace.on_lane(*stream)) {
    if (!measured_part.span.contains(trace.start(op))) continue;
    if (measured_part.batch && measured.scene().tags().batch_of(op) != measured_part.batch) continue;
    const auto other = matching.predicted_of(op);
    if (!other || !trace::is_device_work(trace.kind(op))) continue;
    if (!predicted_part.span.contains(predicted.trace().start(*other))) continue;
    const Nanoseconds at = trace.end(op) - measured_part.span.begin;
    found.push_back({at, at - (predicted.trace().end(*other) - predicted_part.span.begin), op});
  }
  std::ranges::stable_sort(found, {}, &Lead::at);
  return found;
}

const Lead* lead_at(const std::vector<Lead>& leads, Nanoseconds at) {
  const auto after = std::ranges::upper_bound(leads, at, {}, &Lead::at);
  if (after == leads.begin() || (after == leads.end() && leads.back().at < at)) return nullptr;
  return &*(after - 1);
}

std::vector<std::pair<std::string, Nanoseconds>> won_by_stage(const Run& measured, const std::vector<Lead>& leads,
                                                              Nanoseconds least) {
  const Tags& tags = measured.scene().tags();
  std::map<std::string, Nanoseconds> won;
  Nanoseconds before = 0;
  for (const Lead& lead : leads) {
    won[tags.stages()[tags.stage_of(lead.measured)]] += lead.ahead - before;
    before = lead.ahead;
  }
  std::vector<std::pair<std::string, Nanoseconds>> sorted;
  for (const auto& [stage, time] : won) {
    if (std::abs(time) >= std::max<Nanoseconds>(least, 1))
      sorted.emplace_back(stage.empty() ? "other work" : stage, time);
  }
  std::ranges::stable_sort(sorted, std::ranges::greater{}, [](const auto& of) { return std::abs(of.second); });
  return sorted;
}

std::string lead_text(const Run& measured, const Lead& lead) {
  const Tags& tags = measured.scene().tags();
  std::string text = ahead_text(lead.ahead) + " after " + short_name(measured.trace(), lead.measured);
  if (const std::uint8_t stage = tags.stage_of(lead.measured); stage != 0) text += " of " + tags.stages()[stage];
  return text;
}

double difference_height(double room) {
  constexpr double kPart = 0.13;
  constexpr double kLeast = 34;  // two lines of text
  constexpr double kMost = 50;   // three
  return std::round(std::clamp(room * kPart, kLeast, kMost));
}

void draw_difference(QPainter& painter, const std::vector<Lead>& leads, const Viewport& view, const QRectF& area,
                     const Theme& theme) {
  painter.save();
  painter.setClipRect(area);
  painter.fillRect(area, theme.strip);
  const QRectF plot = area.adjusted(kLabelWidth, 3, 0, -3);
  painter.fillRect(area.adjusted(kLabelWidth, 0, 0, 0), theme.background);
  painter.setPen(theme.line);
  painter.drawLine(area.topLeft(), area.topRight());
  painter.drawLine(QPointF(plot.left(), plot.center().y()), QPointF(plot.right(), plot.center().y()));
  const QRectF name = area.adjusted(kNameIndent, 2, 0, -2);
  draw_text(painter, QRectF(name.left(), name.top(), kLabelWidth - kNameIndent, 15),
            QObject::tr("lead of the prediction"), 11, true, theme.text);
  if (leads.empty()) {
    draw_text(painter, QRectF(name.left(), name.top() + 15, kLabelWidth - kNameIndent, 15),
              QObject::tr("no work here matches"), 10, false, theme.dim_text);
    painter.restore();
    return;
  }
  const Nanoseconds most =
      std::ranges::max_element(leads, {}, [](const Lead& lead) { return std::abs(lead.ahead); })->ahead;
  const auto largest = static_cast<double>(std::max<Nanoseconds>(std::abs(most), 1));
  draw_curve(painter, leads, view, plot, plot.height() / 2 / largest, theme);
  draw_text(painter, QRectF(name.left(), name.top() + 15, kLabelWidth - kNameIndent, 15),
            QObject::tr("%1 at the end").arg(QString::fromStdString(ahead_text(leads.back().ahead))), 10, false,
            theme.dim_text);
  const QRectF third(name.left(), name.top() + 29, kLabelWidth - kNameIndent, 15);
  if (third.bottom() <= area.bottom()) {
    draw_text(painter, third, QObject::tr("at most %1").arg(QString::fromStdString(ahead_text(most))), 10, false,
              theme.dim_text);
  }
  painter.restore();
}

}  // namespace interlace::gui
