#pragma once

#include <filesystem>
#include <vector>

#include "gui/timeline/pane.hpp"
#include "simulator/base/error.hpp"

namespace interlace::gui {

inline constexpr ErrorCode kNotesUnreadable{"gui.notes_unreadable"};
inline constexpr ErrorCode kCannotWriteNotes{"gui.cannot_write_notes"};

/// Where the notes on a recording are kept: beside its first file, or in its folder.
[[nodiscard]] std::filesystem::path notes_file(const std::filesystem::path& recording);

/// {"interlace_notes": 1, "notes": [{"at_ns": 12500, "text": "..."}]}; at_ns is a time of the trace. None where there
/// is no file. Throws gui.notes_unreadable.
[[nodiscard]] std::vector<Mark> read_notes(const std::filesystem::path& file);

/// Replaces the file; without notes there is none. Throws gui.cannot_write_notes.
void write_notes(const std::vector<Mark>& notes, const std::filesystem::path& file);

}  // namespace interlace::gui
