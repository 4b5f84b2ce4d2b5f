#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cupti_collector/recording_file.hpp"
#include "cupti_collector/session_log.hpp"
#include "simulator/base/diagnostics.hpp"
#include "simulator/base/error.hpp"
#include "simulator/trace/ilt/session_file.hpp"

namespace interlace::collector {

inline constexpr ErrorCode kFolderInUse{"record.folder_in_use"};
inline constexpr ErrorCode kCannotMakeFolder{"record.cannot_make_folder"};

inline constexpr DiagnosticKind kEndedAbruptly{
    "record.ended_abruptly", Severity::kDataLoss, "processes that ended without closing their recording",
    "killed, crashed or left by _exit; what happened since the last flush (--flush-ms) is missing"};

/// Makes the folder ready for a new recording: it is made, and recordings of old are refused, or removed where
/// overwrite says so, unless a process still writes them. Gives its absolute path. Throws Error record.folder_in_use,
/// record.cannot_make_folder.
[[nodiscard]] std::filesystem::path prepare_folder(const std::filesystem::path& folder, bool overwrite);

/// A file of a recording after the program's end.
struct RecordedFile {
  std::filesystem::path path;
  trace::SessionFacts facts;
  bool is_in_use = false;       ///< a process of the program lives on and writes it
  bool ended_abruptly = false;  ///< it was not closed; it is sealed now
  std::string write_failure;    ///< when and why it could not be written further; empty where it could
  std::string problem;          ///< why it cannot be read; empty where it can

  /// Whether all that was launched is in it.
  [[nodiscard]] bool is_whole() const;
};

/// The files of a recording in the folder, by rank. Those whose process died without closing them are sealed: ended
/// with a diagnostic that says so. log: of the recording.
[[nodiscard]] std::vector<RecordedFile> close_files(const std::filesystem::path& folder,
                                                    const std::vector<LogLine>& log);

}  // namespace interlace::collector
