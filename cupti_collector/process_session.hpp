#pragma once

#include <filesystem>
#include <optional>

#include "cupti_collector/options.hpp"
#include "cupti_collector/session.hpp"

/// The one session of this process. CUPTI's and NVTX's callbacks, atexit and pthread_atfork carry no pointer, so there
/// has to be a place that leads to it; nothing else is kept here.
namespace interlace::collector {

/// What the environment says; none where it asks for no recording. Throws Error record.bad_option.
[[nodiscard]] std::optional<Options> options_of_environment();
/// The same of how to record, into this folder whether or not the environment asks for it.
[[nodiscard]] Options options_of_environment(std::filesystem::path folder);

/// The session; null where there is none.
[[nodiscard]] Session* session_of_process() noexcept;
/// The session, for what the program says of itself. Where the program has not come to CUDA yet, but will be recorded
/// then, the session is made, to keep that. Null where nothing is recorded.
[[nodiscard]] Session* session_for_events() noexcept;
/// Begins to record, once in a process; true where this call did. See Session::start.
bool start_session(const Options& options, Session::Moment moment);

}  // namespace interlace::collector
