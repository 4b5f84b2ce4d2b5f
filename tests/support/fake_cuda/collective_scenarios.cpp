#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "cupti_collector/collector.hpp"
#include "tests/support/fake_cuda/fake_nccl.hpp"
#include "tests/support/fake_cuda/scenarios.hpp"

namespace interlace::testing {

namespace {

/// Collectives beside other work, told by NCCL in the words of a version of its profiler interface.
void collectives(int version) {
  FakeNccl nccl(version);
  std::cout << "plugin " << nccl.has_plugin() << std::endl;
  void* world = nccl.communicator(0xabc, "world", 4);
  void* pair = nccl.communicator(0xdef, "", 2);
  for (int i = 0; i < 3; ++i) {
    launches(2);
    nccl.all_reduce(world, 1000);
    nccl.all_gather(world, 500);
    fake_cuda_event_record(kCompute, 1);
    nccl.exchange(world, 4, 30);
    launches(1);
    std::thread([&] { nccl.all_reduce(pair, 7); }).join();
  }
  fake_cuda_synchronize();
}

/// So many all-gathers in one group.
void large_group(int calls) {
  FakeNccl nccl(5);
  void* world = nccl.communicator(0xabc, "world", 4);
  launches(1);
  nccl.all_gathers(world, static_cast<std::uint64_t>(calls));
  fake_cuda_synchronize();
}

std::int64_t resident_megabytes() {
  std::ifstream in("/proc/self/statm");
  std::int64_t pages = 0;
  in >> pages >> pages;
  return pages * sysconf(_SC_PAGESIZE) / 1'000'000;
}

/// Collectives over more than a second.
void steady_collectives(int count) {
  FakeNccl nccl(5);
  void* world = nccl.communicator(0xabc, "world", 4);
  for (int i = 0; i < count; ++i) {
    launches(1);
    nccl.all_reduce(world, 1000);
    pause(7);
  }
  fake_cuda_synchronize();
}

/// So many thousand collectives, and what they took of the program's memory.
void collectives_for_long(int thousands) {
  FakeNccl nccl(5);
  void* world = nccl.communicator(0xabc, "world", 4);
  const std::int64_t before = resident_megabytes();
  for (int i = 0; i < thousands; ++i) {
    for (int k = 0; k < 1000; ++k) nccl.all_reduce(world, 1000);
    pause(3);
    fake_cuda_synchronize();
  }
  std::cout << "grew by " << resident_megabytes() - before << " MB" << std::endl;
}

/// As a program that records itself does: begins before its communicators are made, stops, and goes on later.
void record_itself(int) {
  interlace::collector::start(std::getenv("RECORD_ITSELF_DIR"), std::getenv("RECORD_ITSELF_LIBRARY"));
  interlace::collector::stop();
  FakeNccl nccl(5);
  std::cout << "plugin " << nccl.has_plugin() << std::endl;
  void* world = nccl.communicator(0xabc, "", 2);
  for (int i = 0; i < 20; ++i) nccl.all_reduce(world, 1);
  fake_cuda_synchronize();
  interlace::collector::start();
  for (int i = 0; i < 5; ++i) {
    const interlace::collector::Range range("step");
    launches(1);
    nccl.all_reduce(world, 1000);
    nccl.exchange(world, 2, 5);
    fake_cuda_event_record(kCompute, 1);
  }
  fake_cuda_synchronize();
  interlace::collector::stop();
}

}  // namespace

Scenarios collective_scenarios() {
  return {{"collectives", collectives},
          {"steady_collectives", steady_collectives},
          {"collectives_for_long", collectives_for_long},
          {"large_group", large_group},
          {"record_itself", record_itself}};
}

}  // namespace interlace::testing
