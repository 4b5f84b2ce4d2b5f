#include "gui/session/save_schedule.hpp"

#include <QSaveFile>
#include <algorithm>

#include "gui/session/verdict.hpp"
#include "simulator/schedule/print.hpp"

namespace interlace::gui {

void save_schedule(schedule::Schedule schedule, bool one_rank, const std::filesystem::path& file) {
  const Verdict verdict = verdict_of(schedule, one_rank);
  if (!verdict.can_run) {
    const auto wrong = std::ranges::find(verdict.remarks, Gravity::kWrong, &Remark::gravity);
    throw Error(kScheduleCannotRun, schedule.name + ", line " + std::to_string(wrong->line), wrong->text,
                "mend the lines that are named, or undo");
  }
  schedule.hazardous = verdict.count(Gravity::kHazard) > 0;
  const std::string text = schedule::print(schedule);
  QSaveFile out(QString::fromStdString(file.string()));
  const auto size = static_cast<qint64>(text.size());
  if (!out.open(QIODevice::WriteOnly) || out.write(text.data(), size) != size || !out.commit()) {
    throw Error(kCannotWriteSchedule, file.string(),
                "the schedule cannot be written: " + out.errorString().toStdString(),
                "check the folder, its permissions and the room on the disk");
  }
}

}  // namespace interlace::gui
