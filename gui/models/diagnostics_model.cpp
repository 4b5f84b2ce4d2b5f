#include "gui/models/diagnostics_model.hpp"

#include <algorithm>
#include <functional>

namespace interlace::gui {

void DiagnosticsModel::set(std::vector<Diagnostic> found) {
  beginResetModel();
  found_ = std::move(found);
  std::ranges::stable_sort(found_, std::greater{}, &Diagnostic::severity);
  endResetModel();
}

int DiagnosticsModel::kinds_of(Severity severity) const {
  return static_cast<int>(std::ranges::count(found_, severity, &Diagnostic::severity));
}

QString DiagnosticsModel::grave() const {
  QStringList parts;
  const int lost = kinds_of(Severity::kDataLoss);
  const int warnings = kinds_of(Severity::kWarning);
  if (lost > 0) parts << tr("%1 data loss").arg(lost);
  if (warnings > 0) parts << (warnings == 1 ? tr("1 warning") : tr("%1 warnings").arg(warnings));
  return parts.join(QStringLiteral(", "));
}

int DiagnosticsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(found_.size());
}

int DiagnosticsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int{kColumns}; }

QVariant DiagnosticsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  const Diagnostic& of = found_[static_cast<std::size_t>(index.row())];
  const auto text = [](std::string_view utf8) {
    return QString::fromUtf8(utf8.data(), static_cast<qsizetype>(utf8.size()));
  };
  switch (index.column()) {
    case kSeverity: return text(to_string(of.severity));
    case kCount: return static_cast<qlonglong>(of.count);
    case kMeaning: return text(of.meaning);
    case kAdvice: return text(of.advice);
    case kFirstPlace: return text(of.first_place);
    case kCode: return text(of.code);
    default: return {};
  }
}

QVariant DiagnosticsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (section) {
    case kSeverity: return tr("severity");
    case kCount: return tr("count");
    case kMeaning: return tr("what was found");
    case kAdvice: return tr("what to do");
    case kFirstPlace: return tr("first place");
    case kCode: return tr("code");
    default: return {};
  }
}

}  // namespace interlace::gui
