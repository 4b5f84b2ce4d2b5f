#pragma once

#include <QString>

class QAbstractItemModel;

namespace interlace::gui {

/// A table as RFC 4180 text with a header, as it is shown.
[[nodiscard]] QString csv_of(const QAbstractItemModel& table);

}  // namespace interlace::gui
