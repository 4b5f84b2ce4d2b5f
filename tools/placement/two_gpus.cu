// How NCCL's CTAs find SMs: an exchange between two GPUs that becomes ready while a kernel runs, behind which on its
// stream another stands. Blocks of the latter write down where they ran: the SMs it does not get at first are NCCL's.
// On the second GPU the exchange becomes ready later, so that the first waits with the SMs it has.
//
//   nvcc -std=c++20 -O2 -arch=sm_90 -cudart static -I NCCL/include -o two_gpus two_gpus.cu -L NCCL/lib -l:libnccl.so.2
//   ./two_gpus REPEATS > two_gpus.jsonl

#include <nccl.h>

#include <array>

#include "blocks.cuh"

using namespace placement;

namespace {

void check(ncclResult_t status, const char* what) {
  if (status == ncclSuccess) return;
  std::fprintf(stderr, "two_gpus: %s: %s\n", what, ncclGetErrorString(status));
  std::exit(1);
}

constexpr std::size_t kMostBytes = std::size_t{512} << 20;

struct Gpu {
  int device = 0;
  Stage* stage = nullptr;
  ncclComm_t communicator = nullptr;
  char* send = nullptr;
  char* receive = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 10;
  std::array<Gpu, 2> gpus;
  std::array<ncclComm_t, 2> communicators;
  const int devices[] = {0, 1};
  check(ncclCommInitAll(communicators.data(), 2, devices), "communicators");
  for (int d = 0; d < 2; ++d) {
    placement::check(cudaSetDevice(d), "device");
    gpus[d].device = d;
    gpus[d].stage = new Stage;
    gpus[d].communicator = communicators[d];
    placement::check(cudaMalloc(&gpus[d].send, kMostBytes), "memory");
    placement::check(cudaMalloc(&gpus[d].receive, kMostBytes), "memory");
  }
  cudaDeviceProp device;
  placement::check(cudaGetDeviceProperties(&device, 0), "device");
  const int sms = device.multiProcessorCount;
  int version = 0;
  check(ncclGetVersion(&version), "version");
  std::printf("{\"scene\":\"device\",\"name\":\"%s\",\"sms\":%d,\"nccl\":%d}\n", device.name, sms, version);

  // Half of `bytes` to the other GPU and half to itself, as TorchRec's exchanges of two ranks.
  const auto exchange = [&](std::size_t bytes) {
    check(ncclGroupStart(), "group");
    for (Gpu& gpu : gpus) {
      for (int peer = 0; peer < 2; ++peer) {
        const std::size_t at = peer * (bytes / 2);
        check(ncclSend(gpu.send + at, bytes / 2, ncclChar, peer, gpu.communicator, gpu.stage->stream(1)), "send");
        check(ncclRecv(gpu.receive + at, bytes / 2, ncclChar, peer, gpu.communicator, gpu.stage->stream(1)), "receive");
      }
    }
    check(ncclGroupEnd(), "group");
  };
  const auto on_each = [&](auto what) {
    for (Gpu& gpu : gpus) {
      placement::check(cudaSetDevice(gpu.device), "device");
      what(gpu, *gpu.stage);
    }
  };
  const auto end = [&](const std::string& scene, const std::string& settings) {
    on_each([&](Gpu& gpu, Stage& stage) { stage.print(scene, settings + "," + number("gpu", gpu.device)); });
  };
  on_each([](Gpu&, Stage& stage) { stage.gate(10); });
  exchange(kMostBytes);
  on_each([&](Gpu&, Stage& stage) {
    for (const Shape* s : {&kMultiply1, &kMultiply2, &kElementwise, &kStream, &kRows4})
      stage.launch(2, *s, 4, 1, s->name);
  });
  end("warm-up", number("repeat", 0));

  // Plays a scene on both GPUs, an exchange or more beside it.
  const auto scene = [&](const char* name, const std::string& settings, double gate_us, int exchanges, std::size_t mib,
                         auto play) {
    for (int r = 0; r < repeats; ++r) {
      on_each([&](Gpu&, Stage& stage) { stage.gate(gate_us); });
      on_each(play);
      for (int e = 0; e < exchanges; ++e) exchange(mib << 20);
      on_each([](Gpu&, Stage& stage) { stage.stay_us(1, kDelay, 1, 1, "behind the exchange"); });
      end(name, settings + "," + number("repeat", r));
    }
  };
  // Lets an exchange of one GPU come later than that of the other.
  const auto delay_exchange = [](Gpu& gpu, Stage& stage, double first_us, double second_us) {
    stage.stay_us(4, kDelay, 1, gpu.device == 0 ? first_us : second_us, "delay of nccl");
    stage.wait(1, stage.record(4));
  };

  // The time an exchange takes by itself: from the gate to the marker behind it.
  for (const std::size_t mib : {1, 32, 128, 512}) {
    scene("alone", number("mib", static_cast<double>(mib)), 300, 1, mib, [](Gpu&, Stage&) {});
  }

  struct Before {
    const char* name;
    Shape shape;
    double amount;  // as the kernel understands it
    double rounds;
  };
  const Before befores[] = {
      {"even, 8 on an SM", kElementwise, 40'000, 6},   {"uneven, 8 on an SM", uneven(kElementwise), 40'000, 6},
      {"stream, 8 on an SM", kStream, 60, 5.5},        {"stream, short blocks", kStream, 4, 40},
      {"multiply, 1 on an SM", kMultiply1, 40'000, 6}, {"rows, 4 on an SM", kRows4, 60, 5},
  };
  for (const Before& before : befores) {
    for (const Shape* next : {&kMultiply1, &kMultiply2}) {
      // Chained: an exchange that runs beside the kernel, and behind it the one that is looked at.
      for (const bool chained : {false, true}) {
        const std::string settings = setting("before", before.name) + "," + setting("next", next->name) + "," +
                                     number("chained", chained ? 1 : 0);
        scene("exchange", settings, 400, chained ? 2 : 1, 64, [&](Gpu& gpu, Stage& stage) {
          if (chained) {
            stage.stay_us(1, kDelay, 1, 5, "delay of nccl");
          } else {
            delay_exchange(gpu, stage, 120, 900);
          }
          stage.launch(2, before.shape, static_cast<int>(sms * fits(before.shape) * before.rounds), before.amount,
                       "kernel");
          stage.stay_us(2, *next, sms * fits(*next) * 4, 300, "next kernel");
        });
      }
    }
  }

  // An idle GPU: the exchange becomes ready, and a kernel a little later (or sooner), on both GPUs alike; the exchange
  // is to last on the first, which the second one's lateness sees to.
  for (double offset = -4; offset <= 12.01; offset += 1) {
    scene("idle", number("offset_us", offset), 300, 1, 64, [&](Gpu& gpu, Stage& stage) {
      delay_exchange(gpu, stage, 20, 400);
      stage.stay_us(5, kDelay, 1, 20 + offset, "delay of next");
      stage.wait(2, stage.record(5));
      stage.stay_us(2, kMultiply1, sms * 2, 300, "next kernel");
    });
  }
  // The same where the kernel follows one whose blocks all end at once, for which the exchange has waited, after a
  // while.
  for (double later = 0; later <= 16.01; later += 2) {
    for (const Shape* before : {&kElementwise, &kMultiply1}) {
      const std::string settings = setting("before", before->name) + "," + number("later_us", later);
      scene("drained", settings, 300, 1, 64, [&](Gpu& gpu, Stage& stage) {
        delay_exchange(gpu, stage, 20, 800);
        stage.stay_us(2, *before, sms * fits(*before) * 2, 60, "kernel");
        if (later > 0) stage.stay_us(2, kDelay, 1, later, "gap");
        stage.stay_us(2, kMultiply1, sms * 2, 300, "next kernel");
      });
    }
  }
  return 0;
}
