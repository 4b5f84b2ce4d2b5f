#include "gui/timeline/label_cache.hpp"

#include <QFontMetricsF>
#include <QTransform>
#include <algorithm>

#include "gui/timeline/names.hpp"

namespace interlace::gui {

namespace {

constexpr std::size_t kMostTexts = 20'000;
constexpr std::size_t kMostNames = 100'000;
constexpr std::size_t kMostLetters = 200;
constexpr std::size_t kLeastLetters = 3;
const QChar kEllipsis(0x2026);

}  // namespace

const LabelCache::Name& LabelCache::name_of(trace::OperationId op, const QFont& font) {
  const std::uint32_t key = trace_->names()[op.index()].value;
  if (const auto found = names_.find(key); found != names_.end()) return found->second;
  if (names_.size() >= kMostNames) names_.clear();
  Name name{QString::fromStdString(short_name(*trace_, op)).left(kMostLetters), {}};
  const QFontMetricsF metrics(font);
  double width = 0;
  for (const QChar letter : name.text) {
    width += metrics.horizontalAdvance(letter);
    name.width_of_first.push_back(static_cast<float>(width));
  }
  return names_.emplace(key, std::move(name)).first->second;
}

const QStaticText* LabelCache::text(trace::OperationId op, const QFont& font, double width) {
  if (font != font_) {
    names_.clear();
    texts_.clear();
    font_ = font;
    ellipsis_width_ = static_cast<float>(QFontMetricsF(font).horizontalAdvance(kEllipsis));
  }
  const Name& name = name_of(op, font);
  const std::vector<float>& widths = name.width_of_first;
  if (widths.empty()) return nullptr;
  std::size_t letters = widths.size();
  if (widths.back() > width) {
    const auto room = static_cast<float>(width) - ellipsis_width_;
    letters = static_cast<std::size_t>(std::ranges::upper_bound(widths, room) - widths.begin());
    if (letters < kLeastLetters) return nullptr;
  }
  const std::uint64_t key = (std::uint64_t{trace_->names()[op.index()].value} << 16) | letters;
  if (const auto found = texts_.find(key); found != texts_.end()) return &found->second;
  if (texts_.size() >= kMostTexts) texts_.clear();
  const bool whole = letters == widths.size();
  QStaticText text(whole ? name.text : name.text.left(static_cast<qsizetype>(letters)) + kEllipsis);
  text.setTextFormat(Qt::PlainText);
  text.setPerformanceHint(QStaticText::AggressiveCaching);
  text.prepare(QTransform(), font);
  return &texts_.emplace(key, std::move(text)).first->second;
}

}  // namespace interlace::gui
