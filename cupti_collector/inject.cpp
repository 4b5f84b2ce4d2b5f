// What the CUDA driver and the programs that mark their work call: C functions of libinterlace_collector.so.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>

#include "cupti_collector/entry_points.hpp"
#include "cupti_collector/session.hpp"
#include "cupti_collector/session_log.hpp"

namespace {

using interlace::collector::HostEvents;
using interlace::collector::Options;
using interlace::collector::Session;

/// The one session of this process. CUPTI's callbacks, atexit and pthread_atfork carry no pointer, so there has to be a
/// place that leads to it; nothing else is kept here.
std::atomic<Session*> session_of_process{nullptr};

/// What an exit may take for the last records.
constexpr std::chrono::seconds kLongestExit{2};
constexpr std::chrono::milliseconds kLongestFlush{500};

void CUPTIAPI request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  Session* session = session_of_process.load(std::memory_order_acquire);
  *buffer = session->pool().take();
  *size = *buffer == nullptr ? 0 : session->pool().buffer_bytes();
  *most_records = 0;
}

void CUPTIAPI complete_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
  session_of_process.load(std::memory_order_acquire)->pool().give_back(buffer, valid_bytes);
}

void CUPTIAPI on_event(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void*) {
  if (Session* session = session_of_process.load(std::memory_order_acquire)) session->on_event(domain, id);
}

void finish_at_exit() {
  if (Session* session = session_of_process.load(std::memory_order_acquire)) session->finish(kLongestExit);
}

void abandon_in_child() {
  if (Session* session = session_of_process.exchange(nullptr)) session->abandon();
}

/// Begins the session of this process, once.
bool begin(const Options& options) {
  auto* session = new Session(options, interlace::collector::identify_rank([](const char* name) -> const char* {
                                // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets these
                                return std::getenv(name);
                              }));
  Session* none = nullptr;
  if (!session_of_process.compare_exchange_strong(none, session)) return false;  // two threads at once: leave it
  pthread_atfork(nullptr, nullptr, abandon_in_child);
  session->start({request_buffer, complete_buffer, on_event});
  std::atexit(finish_at_exit);
  return true;
}

std::optional<Options> options_of_environment() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets these
  return interlace::collector::options_from([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace

extern "C" {

int InitializeInjection() {
  // Whatever is wrong, the program runs on.
  try {
    if (const auto options = options_of_environment(); options && session_of_process.load() == nullptr) begin(*options);
  } catch (const std::exception& error) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets it
    if (const char* folder = std::getenv("INTERLACE_RECORD_DIR")) {
      interlace::collector::write_log(folder, "note", std::string("nothing is recorded: ") + error.what());
    }
  }
  return 1;
}

int interlace_collector_start(const char* folder) {
  try {
    if (Session* session = session_of_process.load()) {
      session->resume();
      return 1;
    }
    Options options = options_of_environment().value_or(Options{});
    if (folder != nullptr && *folder != '\0') options.folder = folder;
    return !options.folder.empty() && begin(options) ? 1 : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

void interlace_collector_stop() {
  if (Session* session = session_of_process.load()) session->pause();
}

void interlace_collector_flush() {
  if (Session* session = session_of_process.load()) session->flush(kLongestFlush);
}

void interlace_collector_event(int kind, const char* name, unsigned long bytes) {
  Session* session = session_of_process.load(std::memory_order_acquire);
  if (session == nullptr || !session->is_recording()) return;
  session->events().add(static_cast<HostEvents::Kind>(kind), {name, bytes});
}

}  // extern "C"
