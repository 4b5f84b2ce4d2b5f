#include "cupti_collector/process_session.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

namespace interlace::collector {

namespace {

/// What an exit may take for the last records.
constexpr std::chrono::seconds kLongestExit{2};
/// What the program's own exit may take after that, where they did not come.
constexpr std::chrono::seconds kLongestTeardown{10};

std::atomic<Session*> the_session{nullptr};
/// Whose buffers CUPTI uses. A forked child has no session, but CUPTI asks for buffers there as well.
std::atomic<Session*> lender{nullptr};
/// The environment asks for no recording, or wrongly: it need not be read again.
std::atomic<bool> is_not_wanted{false};

const char* variable(const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets these
  return std::getenv(name);
}

void CUPTIAPI request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  Session* session = lender.load(std::memory_order_acquire);
  *buffer = session->lend_buffer();
  *size = *buffer == nullptr ? 0 : session->buffer_bytes();
  *most_records = 0;
}

void CUPTIAPI complete_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
  lender.load(std::memory_order_acquire)->take_back(buffer, valid_bytes);
}

void CUPTIAPI on_event(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (Session* session = session_of_process()) session->on_event(domain, id, data);
}

void take_allocator_event(const hook::Event& event) noexcept {
  if (Session* session = session_of_process()) {
    session->add_payload(HostEvents::Kind::kAllocator, &event, sizeof(event));
  }
}

/// Where CUPTI hangs, CUDA may do so too as the program leaves it: a recorded program ends all the same, with its
/// status.
void end_after_all(int status) {
  std::thread([status] {
    std::this_thread::sleep_for(kLongestTeardown);
    for (std::FILE* file : {stdout, stderr}) {
      if (ftrylockfile(file) == 0) fflush_unlocked(file);
    }
    _exit(status);
  }).detach();
}

void finish_at_exit(int status, void*) {
  Session* session = session_of_process();
  if (session != nullptr && !session->finish(kLongestExit)) end_after_all(status);
}

void abandon_in_child() {
  if (Session* session = the_session.exchange(nullptr)) session->abandon();
}

/// The session, made where there is none.
Session* make_session(const Options& options) {
  if (Session* session = session_of_process()) return session;
  auto* session = new Session(options, identify_rank(variable));
  Session* other = nullptr;
  if (!the_session.compare_exchange_strong(other, session)) return other;  // it is left where it is
  static std::atomic<bool> is_watching_forks{false};                       // the handler stays over a fork
  if (!is_watching_forks.exchange(true)) pthread_atfork(nullptr, nullptr, abandon_in_child);
  return session;
}

}  // namespace

std::optional<Options> options_of_environment() { return options_from(variable); }

Session* session_of_process() noexcept { return the_session.load(std::memory_order_acquire); }

Session* session_for_events() noexcept {
  if (Session* session = session_of_process()) return session;
  if (is_not_wanted.load(std::memory_order_relaxed)) return nullptr;
  try {
    if (const auto options = options_of_environment()) return make_session(*options);
  } catch (const std::exception&) {
    // InitializeInjection tells of it.
  }
  is_not_wanted.store(true, std::memory_order_relaxed);
  return nullptr;
}

bool start_session(const Options& options, Session::Moment moment) {
  Session* session = make_session(options);
  lender.store(session, std::memory_order_release);
  if (!session->start({request_buffer, complete_buffer, on_event, take_allocator_event}, moment)) return false;
  on_exit(finish_at_exit, nullptr);  // as atexit, and tells the status
  return true;
}

}  // namespace interlace::collector
