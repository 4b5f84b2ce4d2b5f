#include "cupti_collector/process_session.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace interlace::collector {

namespace {

std::atomic<Session*> the_session{nullptr};
/// Whose buffers CUPTI uses. A forked child has no session, but CUPTI asks for buffers there as well.
std::atomic<Session*> lender{nullptr};
/// The environment asks for no recording, or wrongly, and need not be read again; or this is the child of a process
/// that is recorded. Where CUDA begins all the same, that makes a session.
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

void add_to_session(const HostEvents::Event& event) noexcept {
  if (Session* session = session_of_process()) session->add_event(event);
}

std::uint32_t begin_range(const char* name) noexcept {
  const std::uint32_t number = HostEvents::next_range();
  add_to_session({.kind = HostEvents::Kind::kStart, .number = number, .name = name, .extra = std::nullopt});
  return number;
}

void end_range(std::uint32_t number) noexcept {
  add_to_session({.kind = HostEvents::Kind::kEnd, .number = number, .name = {}, .extra = std::nullopt});
}

void begin_operator(const char* name, std::int64_t sequence, std::uint64_t forward_thread) noexcept {
  add_to_session({.kind = HostEvents::Kind::kPush,
                  .number = HostEvents::kOperators,
                  .name = name,
                  .extra = HostEvents::Extra{.payload = static_cast<std::uint64_t>(sequence),
                                             .domain = HostEvents::kOperators,
                                             .forward_thread = static_cast<std::uint32_t>(forward_thread)}});
}

void end_operator() noexcept {
  add_to_session({.kind = HostEvents::Kind::kPop, .number = HostEvents::kOperators, .name = {}, .extra = std::nullopt});
}

constexpr hook::RangeListener kRangeListener{begin_range, end_range, begin_operator, end_operator};

void add_lines(const std::string& file, std::string_view word, std::string& lines) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.find(word) != std::string::npos) lines += line + '\n';
  }
}

/// What differs from one time to the next where a thread gets on: that it ran, or that the process wrote. Empty where
/// the system does not tell.
std::string signs_of_progress(pid_t thread) {
  std::string signs;
  const std::string folder = "/proc/self/task/" + std::to_string(thread) + "/";
  add_lines(folder + "status", "ctxt_switches", signs);
  if (signs.empty()) return signs;
  add_lines(folder + "schedstat", {}, signs);
  add_lines("/proc/self/io", "write_bytes", signs);
  add_lines("/proc/self/io", "wchar", signs);
  return signs;
}

/// Where CUPTI or the allocator hangs, CUDA may do so too as the program leaves it: a recorded program ends all the
/// same, with its status. But its own handlers may save what it did, for however long: only one that stands still is
/// ended.
void end_after_all(const Session& session, pid_t exiting_thread, int status) {
  using Clock = std::chrono::steady_clock;
  const std::chrono::nanoseconds longest(session.longest_teardown());
  std::string signs = signs_of_progress(exiting_thread);
  for (auto since = Clock::now(); Clock::now() - since < longest;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::string now = signs_of_progress(exiting_thread);
    if (now.empty() || now != signs) since = Clock::now();
    signs = std::move(now);
  }
  session.note("the program's own end did not get on either, on the driver it seems: it was ended with its status");
  for (std::FILE* file : {stdout, stderr}) {
    if (ftrylockfile(file) == 0) fflush_unlocked(file);
  }
  _exit(status);
}

void finish_at_exit(int status, void*) {
  Session* session = session_of_process();
  if (session == nullptr || session->finish() != Session::End::kDriverHangs) return;
  try {
    std::thread([session, thread = gettid(), status] { end_after_all(*session, thread, status); }).detach();
  } catch (const std::exception&) {
    // Without a thread it ends as it can.
  }
}

/// As with atexit, what is said last runs first; it tells the status, too.
void finish_before_all_so_far() { on_exit(finish_at_exit, nullptr); }

void abandon_in_child() {
  Session* session = the_session.exchange(nullptr);
  if (session == nullptr) return;
  // CUDA that has begun is of no use in a child: what it says would be kept for a first call that never comes.
  if (session->has_begun()) is_not_wanted = true;
  session->abandon();
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

Options options_of_environment(std::filesystem::path folder) { return options_from(variable, std::move(folder)); }

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
  // PyTorch may be loaded later, and its allocator is then destroyed earlier: the recording's end asks what it holds.
  if (!session->start(
          {request_buffer, complete_buffer, on_event, take_allocator_event, finish_before_all_so_far, &kRangeListener},
          moment)) {
    return false;
  }
  finish_before_all_so_far();
  return true;
}

}  // namespace interlace::collector
