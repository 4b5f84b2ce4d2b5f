#pragma once

#include <filesystem>

#include "simulator/base/error.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::gui {

inline constexpr ErrorCode kScheduleCannotRun{"gui.schedule_cannot_run"};
inline constexpr ErrorCode kCannotWriteSchedule{"gui.cannot_write_schedule"};

/// Writes an edited schedule as a file that `interlace schedules validate` accepts and the engine runs. One with
/// hazards is marked as hazardous; one_rank: those of a job of one count (verdict_of). The file that was there is
/// replaced only once all has been written. Throws gui.schedule_cannot_run, gui.cannot_write_schedule.
void save_schedule(schedule::Schedule schedule, bool one_rank, const std::filesystem::path& file);

}  // namespace interlace::gui
