// A program that uses the fake CUDA, to be recorded: fake_program SCENARIO [NUMBER]. It prints what it did.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cupti_collector/collector.hpp"
#include "cupti_collector/entry_points.hpp"
#include "tests/support/fake_cuda/fake_cuda.hpp"
#include "tests/support/fake_cuda/fake_nvtx.hpp"
#include "tests/support/fake_cuda/scenarios.hpp"

/// PyTorch's libraries export one too: it is not the collector's.
extern "C" int InitializeInjection() { std::abort(); }

namespace {

using namespace interlace::testing;  // its scenarios are a part of it

bool may_make_threads = true;

}  // namespace

/// In front of the system's: the program may have reached the limit of its threads.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) {
  static const auto system = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return may_make_threads ? system(thread, attributes, run, argument) : EAGAIN;
}

namespace {

constexpr int kCustom = 3;  // CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0
constexpr std::uint32_t kCopies = 8;

/// One step of a training loop: a copy on a stream of its own, the computation that waits for it, a check of an event.
void step() {
  const interlace::collector::Range range("step");
  fake_cuda_copy(kCopies, 4096, 5'000);
  fake_cuda_event_record(kCopies, 1);
  fake_cuda_stream_wait(kCompute, 1);
  fake_cuda_launch(kCompute, kKernel, 10'000, kFakeNormal);
  fake_cuda_launch(kCompute, "_Z3subPfS_i", 10'000, kFakeNormal);
  fake_cuda_event_record(kCompute, 2);
  fake_cuda_get_device();
}

void steps(int count) {
  for (int i = 0; i < count; ++i) {
    step();
    fake_cuda_synchronize();
    fake_cuda_event_query(2);
  }
}

/// Launches for a while and tells of it each millisecond, until something ends the process.
[[noreturn]] void launch_for_ever() {
  for (int i = 0;; ++i) {
    launches(10);
    std::cout << "launched " << 10 * (i + 1) << std::endl;
    pause(1);
  }
}

void threads(int count) {
  std::vector<std::thread> all;
  for (int i = 0; i < count; ++i) {
    all.emplace_back([i] {
      for (int k = 0; k < 500; ++k) {
        fake_cuda_launch(kCompute + static_cast<std::uint32_t>(i), kKernel, 1'000, kFakeNormal);
        interlace::collector::mark("mark");
      }
    });
  }
  for (std::thread& one : all) one.join();
  fake_cuda_synchronize();
}

void fork_child(int) {
  launches(100);
  fake_cuda_synchronize();
  pause(200);  // all is fetched: the child's calls need a buffer
  const pid_t child = fork();
  if (child == 0) {
    fake_cuda_get_device();
    fake_cuda_free(0x1000);  // as destructors do
    interlace::collector::mark("in the child");
    std::exit(0);  // with all exit handlers
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::cout << "child ended with " << status << std::endl;
  launches(100);
  fake_cuda_synchronize();
}

void destroy_context(int) {
  launches(5);
  fake_cuda_synchronize();
  const std::int64_t before = fake_cuda_flushes();
  fake_cuda_destroy_context();
  std::cout << "flushed " << (fake_cuda_flushes() > before ? 1 : 0) << std::endl;
}

void start_and_stop(int) {
  launches(10);
  fake_cuda_synchronize();
  interlace::collector::stop();
  launches(1'000);
  fake_cuda_synchronize();
  interlace::collector::start();
  launches(5);
  fake_cuda_synchronize();
}

/// Switches recording when its recorder has been fetching for long.
void late_stop(int) {
  launches(10);
  fake_cuda_synchronize();
  pause(2'500);
  start_and_stop(0);
}

/// Steps that NVTX divides: ranges of the program, of a domain of its own within them, and of a library across them.
void nvtx_steps(int count) {
  const interlace::testing::FakeNvtx nvtx;
  const void* mine = nvtx.create_domain("mine");
  const void* phase = nvtx.register_string(mine, "phase");
  const void* library = nvtx.create_domain("NCCL");
  nvtx.name_thread(static_cast<std::uint32_t>(gettid()), "trainer");
  for (int i = 0; i < count; ++i) {
    nvtx.push("step");
    nvtx.push(library, "ncclAllReduce");
    nvtx.push(mine, phase);
    launches(1);
    nvtx.pop();  // the step, whatever other domains have open
    nvtx.pop(library);
    nvtx.pop(mine);
  }
  fake_cuda_synchronize();
  const std::uint64_t begun = nvtx.start("handed over");
  std::thread([&] { nvtx.end(begun); }).join();
  nvtx.mark("mark");
  nvtx.mark_wide(L"gr\u00f6\u00dfe \U0001F680");
}

/// So many thousand marks with names that no compression makes small: 200 bytes each in the file.
void chatter(int thousands) {
  std::mt19937 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same in each run
  std::string name(200, ' ');
  for (int i = 0; i < thousands * 1'000; ++i) {
    for (char& letter : name) letter = static_cast<char>(random() | 0x80U);
    interlace::collector::mark(name);
    if (i % 100 != 0) continue;
    launches(1);
    pause(1);
  }
  fake_cuda_synchronize();
}

/// Ranges and marks with numbers and categories, one that ends with a payload, and two that nobody ends.
void notes(int) {
  const interlace::testing::FakeNvtx nvtx;
  using namespace interlace::collector::nvtx;
  const void* mine = nvtx.create_domain("mine");
  nvtx.name_category(mine, 3, "io");
  EventAttributes number{};
  const auto push = [&](const char* name, std::uint32_t category) {
    nvtx.push(mine, name, category, number);
    nvtx.pop(mine);
  };
  number.payload_type = kPayloadInt64;
  number.payload.int64 = -42;
  push("signed", 3);
  number.payload_type = kPayloadInt32;
  number.payload.int32 = -7;
  push("short", 0);
  number.payload_type = kPayloadUint64;
  number.payload.uint64 = UINT64_MAX;
  push("unsigned", 4);  // a category without a name
  number.payload_type = kPayloadUint32;
  number.payload.uint32 = 5;
  push("short unsigned", 0);
  number.payload_type = kPayloadFloat;
  number.payload.float32 = 0.5F;
  push("float", 0);
  number.payload_type = kPayloadDouble;
  number.payload.float64 = 0.1;
  nvtx.mark("loss", 3, number);  // of the default domain, whose categories have no names
  number = {};
  push("plain", 0);
  const void* library = nvtx.create_domain("NCCL");
  nvtx.push(library, "ncclCommInitRank");
  nvtx.pop_with_payload(library);
  nvtx.push("never ended");
  static_cast<void>(nvtx.start("never ended either"));
  launches(1);
  fake_cuda_synchronize();
}

/// Calls that the program has numbers of its own for.
void external_ids(int) {
  fake_cuda_push_external(kCustom, 17);
  launches(2);
  fake_cuda_push_external(kCustom, 18);
  fake_cuda_event_record(kCompute, 1);
  fake_cuda_get_device();  // not recorded
  fake_cuda_pop_external(kCustom);
  launches(1);
  fake_cuda_pop_external(kCustom);
  launches(1);
  fake_cuda_synchronize();
}

/// Copies the next batch while it computes on the present one, in stages that NVTX names; without a wait for the copy,
/// unless `with_wait`.
void pipeline(bool with_wait) {
  const interlace::testing::FakeNvtx nvtx;
  const auto copy = [&](int batch) {
    nvtx.push(("copy_batch_to_gpu " + std::to_string(batch)).c_str());
    fake_cuda_copy(kCopies, 4096, 50'000);
    fake_cuda_event_record(kCopies, 1);
    nvtx.pop();
  };
  copy(0);
  for (int batch = 0; batch < 6; ++batch) {
    nvtx.push(("dense_forward " + std::to_string(batch)).c_str());
    if (with_wait) fake_cuda_stream_wait(kCompute, 1);
    launches(2);
    nvtx.pop();
    copy(batch + 1);
  }
  fake_cuda_synchronize();
}

/// What is said before the first CUDA call, by NVTX and by the collector's own functions.
/// The first three steps take 100 ms, all others five; at step `started` the program has recording begin.
void run_timed_steps(int count, int started) {
  const interlace::testing::FakeNvtx nvtx;
  for (int i = 0; i < count; ++i) {
    if (i == started) interlace::collector::start();
    nvtx.push("step");
    fake_cuda_launch(kCompute, kKernel, 200'000, kFakeNormal);
    std::this_thread::sleep_for(std::chrono::milliseconds(i < 3 ? 100 : 5));
    nvtx.pop();
  }
  fake_cuda_synchronize();
}

void early(int) {
  const interlace::testing::FakeNvtx nvtx;
  nvtx.push("load");
  interlace::collector::mark("before CUDA");
  nvtx.push("first step");
  fake_cuda_init();
  nvtx.pop();
  nvtx.pop();
  pause(100);  // several rounds without device work
  launches(3);
  fake_cuda_synchronize();
}

/// The first CUDA call within the first step.
void early_steps(int count) {
  const interlace::testing::FakeNvtx nvtx;
  for (int i = 0; i < count; ++i) {
    nvtx.push("step");
    if (i == 0) fake_cuda_init();
    launches(10);
    nvtx.pop();
    fake_cuda_synchronize();
  }
}

/// Says that recording is to be off before there is anything to stop.
void early_stop(int) {
  interlace::collector::stop();
  fake_cuda_init();
  launches(10);
  fake_cuda_synchronize();
  interlace::collector::start();
  launches(1);
  fake_cuda_synchronize();
}

/// Begins to record itself when it has a context and has launched.
void early_late_start(int) {
  fake_cuda_launch_by_driver(kCompute, kKernel, 1'000);
  fake_cuda_synchronize();
  interlace::collector::start(std::getenv("RECORD_ITSELF_DIR"), std::getenv("RECORD_ITSELF_LIBRARY"));
  for (int i = 0; i < 10; ++i) fake_cuda_launch_by_driver(kCompute, kKernel, 1'000);
  launches(10);
  fake_cuda_synchronize();
}

/// Asks for a recording of itself that cannot begin, without threads where the number is 0, and goes on.
void early_refused(int most_threads) {
  may_make_threads = most_threads > 0;
  try {
    interlace::collector::start(std::getenv("RECORD_ITSELF_DIR"), std::getenv("RECORD_ITSELF_LIBRARY"));
  } catch (const interlace::Error& error) {
    std::cout << error.what() << std::endl;
  }
  launches(10);
  fake_cuda_synchronize();
}

/// Has its limit of threads reached when it comes to CUDA.
void early_without_threads(int) {
  may_make_threads = false;
  std::cout << "injected " << fake_cuda_init() << std::endl;
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  std::cout << "SIGTERM is " << (sigismember(&blocked, SIGTERM) != 0 ? "blocked" : "free") << std::endl;
  launches(10);
  fake_cuda_synchronize();
  interlace::collector::flush();
}

/// What the collector's C function says where it is asked to record.
void start_by_c() {
  void* collector = dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_NOW | RTLD_NOLOAD);
  const auto try_start = reinterpret_cast<decltype(&interlace_collector_try_start)>(
      collector == nullptr ? nullptr : dlsym(collector, "interlace_collector_try_start"));
  std::array<char, 256> why{};
  const int is_recording = try_start == nullptr ? -1 : try_start(nullptr, why.data(), why.size());
  std::cout << "records " << is_recording << ": " << why.data() << std::endl;
}

/// Asks for more when the recording has reached its size: so many million launches, twice.
void start_again(int millions) {
  for (int i = 0; i < millions; ++i) launches(1'000'000);
  fake_cuda_synchronize();
  pause(500);
  start_by_c();
  interlace::collector::start();
  for (int i = 0; i < 100; ++i) {
    const interlace::collector::Range range("after the end");
    launches(1);
  }
  fake_cuda_synchronize();
}

volatile std::sig_atomic_t signals_seen = 0;

/// Counts the signals of this number that come in two seconds.
void count_signals(int signal) {
  std::signal(signal, [](int) { signals_seen = signals_seen + 1; });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (std::chrono::steady_clock::now() < end) pause(5);
  std::cout << "signals " << signals_seen << std::endl;
}

/// Ranges around times when recording is stopped.
void nvtx_and_stop(int) {
  const interlace::testing::FakeNvtx nvtx;
  const auto step = [&](const char* name) {
    nvtx.push(name);
    launches(1);
    fake_cuda_synchronize();
    nvtx.pop();
  };
  step("recorded");
  nvtx.push("across");
  interlace::collector::stop();
  step("unseen");
  nvtx.mark("unseen mark");
  nvtx.push("into");
  interlace::collector::start();
  nvtx.pop();
  nvtx.pop();
  step("recorded");
}

/// Launches at a steady rate a second, so many millions in all.
void steady(std::int64_t millions, std::int64_t rate) {
  constexpr std::int64_t kBatch = 100;
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t done = 0; done < millions * 1'000'000; done += kBatch) {
    launches(kBatch);
    std::this_thread::sleep_until(begin + std::chrono::nanoseconds(done * 1'000'000'000 / rate));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fake_cuda_synchronize();
  std::cout << "launched at " << static_cast<double>(millions) * 1e6 / took.count() << " a second" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  Scenarios scenarios{
      {"steps", steps},
      {"launches",
       [](int n) {
         launches(n);
         fake_cuda_synchronize();
       }},
      {"flood",
       [](int n) {
         for (int i = 0; i < n; ++i) launches(1'000'000);
         fake_cuda_synchronize();
       }},
      {"steady", [&](int n) { steady(n, argc > 3 ? std::atoll(argv[3]) : 100'000); }},
      {"untimed",
       [](int n) {
         launches(10);
         launches(n, kFakeUntimed);
         fake_cuda_synchronize();
       }},
      {"undelivered",
       [](int n) {
         launches(10);
         launches(n, kFakeUndelivered);
         fake_cuda_synchronize();
       }},
      {"unfinished",
       [](int) {
         launches(10);
         fake_cuda_launch(kCompute, kKernel, 3'600'000'000'000, kFakeNormal);
       }},
      {"early_slow_exit",
       [](int n) {
         static const int tenths = n;
         std::atexit([] {
           for (int i = 0; i < tenths; ++i) pause(100);
           std::cout << "results saved" << std::endl;
         });
         fake_cuda_init();  // the handler runs after the recorder's
         fake_cuda_launch(kCompute, kKernel, 3'600'000'000'000, kFakeNormal);
       }},
      {"unfinished_status",
       [](int n) {
         fake_cuda_launch(kCompute, kKernel, 3'600'000'000'000, kFakeNormal);
         std::exit(n);
       }},
      {"empty_copy",
       [](int) {
         fake_cuda_copy(kCopies, 0, 0);
         launches(1);
         fake_cuda_synchronize();
       }},
      {"graph",
       [](int n) {
         for (int i = 0; i < n; ++i) fake_cuda_launch_graph(kCompute, 50, 100);
         fake_cuda_synchronize();
       }},
      {"capture",
       [](int n) {
         launches(3);
         fake_cuda_capture(static_cast<std::uint32_t>(n));
         fake_cuda_launch_graph(kCompute, static_cast<std::uint32_t>(n), 100);
         fake_cuda_synchronize();
       }},
      {"missing_wait", [](int) { pipeline(false); }},
      {"repaired_wait", [](int) { pipeline(true); }},
      {"nvtx", nvtx_steps},
      {"chatter", chatter},
      {"notes", notes},
      {"external_ids", external_ids},
      {"early", early},
      {"early_without_cuda", [](int) { interlace::testing::FakeNvtx().mark("no CUDA"); }},
      {"early_steps", early_steps},
      {"early_start",
       [](int) {
         interlace::collector::start();
         launches(10);
         fake_cuda_synchronize();
       }},
      {"early_stop", early_stop},
      {"early_late_start", early_late_start},
      {"early_refused", early_refused},
      {"early_without_threads", early_without_threads},
      {"start_again", start_again},
      {"count_signals", count_signals},
      {"nvtx_and_stop", nvtx_and_stop},
      {"memory",
       [](int) {
         fake_cuda_malloc(0x1000, 4096);
         std::thread([] { fake_cuda_malloc(0x9000, 512); }).join();
         launches(1);
         fake_cuda_synchronize();
         fake_cuda_free(0x1000);
       }},
      {"named_steps",
       [](int n) {
         const interlace::testing::FakeNvtx nvtx;
         for (int i = 0; i < n; ++i) {
           nvtx.push("step");
           nvtx.push(("in step " + std::to_string(i)).c_str());
           for (int k = 0; k < 8; ++k) fake_cuda_launch(kCompute, kKernel, 200'000, kFakeNormal);
           for (int k = 0; k < 2; ++k) fake_cuda_launch_by_driver(kCompute, kKernel, 200'000);
           nvtx.pop();
           nvtx.pop();  // its work still runs
         }
         fake_cuda_synchronize();
       }},
      {"timed_steps", [](int n) { run_timed_steps(n, -1); }},
      {"timed_and_started", [](int n) { run_timed_steps(n, 2); }},
      {"for_seconds",
       [](int n) {
         const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100 * n);
         int count = 0;
         while (std::chrono::steady_clock::now() < end) {
           launches(10);
           count += 10;
           pause(1);
         }
         std::cout << "launched " << count << std::endl;
       }},
      {"wrap",
       [](int n) {
         fake_cuda_set_next_correlation(0xFFFFFFFF - 5);
         steps(n);
       }},
      {"late_records",
       [](int n) {
         fake_cuda_deliver_waits_first(1);
         steps(n);
       }},
      {"threads", threads},
      {"burst",
       [](int n) {
         launches(10);
         pause(200);
         launches(n);
         fake_cuda_synchronize();
       }},
      {"start_and_stop", start_and_stop},
      {"late_stop", late_stop},
      {"streams",
       [](int) {
         fake_cuda_create_stream(kCompute, -3);
         launches(1);
         fake_cuda_synchronize();
       }},
      {"destroy_context", destroy_context},
      {"idle",
       [](int) {
         pause(300);
         std::cout << "flushes " << fake_cuda_flushes() << std::endl;
       }},
      {"fork", fork_child},
      {"os_exit",
       [](int) {
         steps(3);
         pause(600);
         _exit(5);
       }},
      {"abort",
       [](int) {
         steps(3);
         pause(600);
         std::abort();
       }},
      {"kill",
       [](int) {
         steps(3);
         pause(600);
         std::raise(SIGKILL);
       }},
      {"run", [](int) { launch_for_ever(); }},
      {"exec",
       [&](int) {
         steps(3);
         pause(600);
         execl(argv[0], argv[0], "launches", "7", nullptr);
       }},
      {"status",
       [](int n) {
         launches(1);
         fake_cuda_synchronize();
         std::exit(n);
       }},
  };
  scenarios.merge(collective_scenarios());
  scenarios.merge(late_scenarios());
  const auto scenario = argc > 1 ? scenarios.find(argv[1]) : scenarios.end();
  if (scenario == scenarios.end()) return 2;
  const bool is_early = std::string(argv[1]).starts_with("early");
  if (!is_early) std::cout << "injected " << fake_cuda_init() << std::endl;
  scenario->second(argc > 2 ? std::atoi(argv[2]) : 10);
  std::cout << "finished" << std::endl;
  return 0;
}
