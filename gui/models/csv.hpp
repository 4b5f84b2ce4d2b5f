#pragma once

#include <QString>

class QAbstractItemModel;

namespace interlace::gui {

/// The role of the whole text of a cell that shows it shortened; other cells have none.
inline constexpr int kWholeTextRole = Qt::UserRole + 1;

/// A table as RFC 4180 text with a header, as it is shown but for what is shortened.
[[nodiscard]] QString csv_of(const QAbstractItemModel& table);

}  // namespace interlace::gui
