// What the CUDA driver and the programs that mark their work call: C functions of libinterlace_collector.so.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "cupti_collector/collector.hpp"
#include "cupti_collector/entry_points.hpp"
#include "cupti_collector/process_session.hpp"
#include "cupti_collector/session_log.hpp"

namespace {

using interlace::Error;
using interlace::collector::HostEvents;
using interlace::collector::kCannotStart;
using interlace::collector::Options;
using interlace::collector::Session;

constexpr std::chrono::milliseconds kLongestFlush{500};

/// Where the program has no other plugin, this library is NCCL's profiler plugin: it has to be named before the first
/// communicator is made.
void become_nccl_plugin() {
  Dl_info where{};
  // A function that no other library can have too: PyTorch's exports an InitializeInjection of its own.
  if (dladdr(reinterpret_cast<const void*>(&become_nccl_plugin), &where) == 0 || where.dli_fname == nullptr) return;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a program that starts recording does so before its threads use the
  // environment
  setenv("NCCL_PROFILER_PLUGIN", where.dli_fname, 0);
}

/// folder: as the program names it; null or empty: the environment's. None where neither names one.
std::optional<Options> options_of(const char* folder) {
  if (folder == nullptr || *folder == '\0') return interlace::collector::options_of_environment();
  return interlace::collector::options_of_environment(folder);
}

/// What is begun here is to be written there: the first rank file comes much later, when nobody listens any more.
void make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw Error(kCannotStart, {}, "the folder cannot be made: " + failure.message());
  if (access(folder.c_str(), W_OK | X_OK) == 0) return;
  throw Error(kCannotStart, {}, "the folder cannot be written to: " + std::generic_category().message(errno));
}

/// Begins or resumes recording. Throws Error record.cannot_start or record.bad_option, std::system_error where the
/// process may have no more threads.
void start_or_resume(const char* folder) {
  Session* session = interlace::collector::session_of_process();
  if (session == nullptr || !session->has_begun()) {
    const auto options = options_of(folder);
    if (!options) throw Error(kCannotStart, {}, "no folder is named");
    make_folder(options->folder);
    become_nccl_plugin();
    interlace::collector::start_session(*options, Session::Moment::kLater);
    session = interlace::collector::session_of_process();
  }
  if (session != nullptr && session->resume()) return;
  const bool has_ended = session != nullptr && session->has_ended();
  throw Error(kCannotStart, {}, has_ended ? "its recording has ended" : "this process records no more");
}

/// 1 where it records; else why it does not.
int try_start(const char* folder, std::string& why) noexcept {
  try {
    start_or_resume(folder);
    return 1;
  } catch (const Error& error) {
    why = error.place().empty() ? error.problem() : error.place() + ": " + error.problem();
  } catch (const std::exception& error) {
    why = error.what();
  }
  return 0;
}

}  // namespace

extern "C" {

int InitializeInjection() {
  // Whatever is wrong, the program runs on.
  try {
    if (const auto options = interlace::collector::options_of_environment()) {
      interlace::collector::start_session(*options, Session::Moment::kFirstCudaCall);
    }
  } catch (const std::exception& error) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets it
    if (const char* folder = std::getenv("INTERLACE_RECORD_DIR")) {
      interlace::collector::write_log(folder, "note", std::string("nothing is recorded: ") + error.what());
    }
  }
  return 1;
}

int interlace_collector_start(const char* folder) {
  std::string why;
  return try_start(folder, why);
}

int interlace_collector_try_start(const char* folder, char* why, unsigned long bytes) {
  std::string reason;
  const int is_recording = try_start(folder, reason);
  if (bytes > 0) why[reason.copy(why, bytes - 1)] = '\0';
  return is_recording;
}

int interlace_collector_has_ended() {
  const Session* session = interlace::collector::session_of_process();
  return session != nullptr && session->has_ended() ? 1 : 0;
}

void interlace_collector_stop() {
  // Also before the first CUDA call: then it is how recording will begin.
  if (Session* session = interlace::collector::session_for_events()) session->pause();
}

void interlace_collector_flush() {
  if (Session* session = interlace::collector::session_of_process()) session->flush(kLongestFlush);
}

void interlace_collector_event(int kind, const char* name, unsigned long bytes) {
  Session* session = interlace::collector::session_for_events();
  if (session != nullptr) session->add_event({.kind = static_cast<HostEvents::Kind>(kind), .name = {name, bytes}});
}

}  // extern "C"
