// How a GPU hands out its SMs. Prints a line of JSON for each repetition of each scene, for summarise.py. One GPU of
// compute capability 9.0.
//
//   nvcc -std=c++20 -O2 -arch=sm_90 -cudart static -o one_gpu one_gpu.cu && ./one_gpu REPEATS > one_gpu.jsonl

#include "blocks.cuh"

using namespace placement;

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 20;
  const std::string only = argc > 2 ? argv[2] : "";
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "device");
  const int sms = device.multiProcessorCount;
  std::printf("{\"scene\":\"device\",\"name\":\"%s\",\"sms\":%d", device.name, sms);
  for (const Shape* s : {&kNccl, &kNcclAlone, &kMultiply1, &kMultiply2, &kUpdate2, &kUpdate4, &kElementwise, &kDelay,
                         &kRows2, &kRows4, &kRows8, &kStream, &kFma2}) {
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, s->kernel), "attributes");
    std::printf(",\"%s\":{\"registers\":%d,\"fits\":%d}", s->name, attributes.numRegs, fits(*s));
  }
  std::printf("}\n");
  Stage stage;
  const auto scene = [&](const char* name, const std::string& settings, const std::function<void()>& play) {
    if (!only.empty() && only != name) return;
    for (int r = 0; r < repeats; ++r) {
      play();
      stage.print(name, settings + "," + number("repeat", r));
    }
  };
  stage.gate(10);  // the first launches load code
  for (const Shape* s : {&kNccl, &kNcclAlone, &kMultiply1, &kMultiply2, &kUpdate2, &kUpdate4, &kElementwise}) {
    stage.stay_us(1, *s, 4, 1, s->name);
  }
  stage.print("warm-up", number("repeat", 0));

  // 1. A collective by itself: how fast its clusters are placed.
  for (const Shape* shape : {&kNccl, &kNcclAlone}) {
    for (const int ctas : {4, 24, 32}) {
      scene("alone", setting("shape", shape->name) + "," + number("ctas", ctas), [&] {
        stage.gate(60);
        stage.stay_us(1, *shape, ctas, 100, "nccl");
      });
    }
  }

  // 2. A collective and a kernel of one round become ready within a few microseconds of each other.
  for (const Shape* kernel : {&kMultiply1, &kMultiply2, &kUpdate4, &kElementwise}) {
    for (double offset = -6; offset <= 6.01; offset += 0.5) {
      scene("race", setting("kernel", kernel->name) + "," + number("offset_us", offset), [&] {
        stage.gate(60);
        stage.stay_us(4, kDelay, 1, 10, "delay of nccl");
        stage.stay_us(5, kDelay, 1, 10 + offset, "delay of kernel");
        stage.wait(1, stage.record(4));
        stage.wait(2, stage.record(5));
        stage.stay_us(1, kNccl, 32, 150, "nccl");
        stage.stay_us(2, *kernel, sms * fits(*kernel), 100, "kernel");
      });
    }
  }

  // 3. Whose turn it is. A collective becomes ready while a kernel of many rounds runs: behind which on its stream the
  // next stands; or while one of another stream becomes ready a while after the collective; or nothing more comes.
  for (const bool equal : {true, false}) {
    for (const Shape* even : {&kMultiply1, &kMultiply2, &kUpdate2, &kUpdate4, &kElementwise}) {
      for (const double rounds : {6.0, 6.5, 40.0}) {
        const double block_us = rounds > 10 ? 5 : 20;
        const Shape shape = equal ? *even : uneven(*even);
        const int at_once = sms * fits(shape);
        const std::string settings = setting("kernel", shape.name) + "," + number("equal", equal ? 1 : 0) + "," +
                                     number("rounds", rounds) + "," + number("block_us", block_us);
        const auto turn = [&](const std::string& what) {
          scene(("turn: " + what).c_str(), settings, [&] {
            stage.gate(90);
            if (what != "end") {
              stage.stay_us(4, kDelay, 1, 2.3 * block_us, "delay of nccl");
              stage.wait(1, stage.record(4));
              stage.stay_us(4, kDelay, 1, block_us, "delay of the other");
              stage.wait(3, stage.record(4));
            }
            stage.stay_us(2, shape, static_cast<int>(at_once * rounds), block_us, "kernel");
            if (what == "end") stage.wait(1, stage.record(2));
            if (what != "alone") {
              stage.stay_us(what == "other stream" ? 3 : 2, shape, at_once * 10, block_us, "other kernel");
            }
            stage.stay_us(1, kNccl, 32, 6 * block_us, "nccl");
          });
        };
        for (const char* what : {"alone", "next", "other stream", "end"}) turn(what);
      }
    }
  }

  // 4. Room: how many of a collective's clusters get in beside a kernel of one round that leaves some SMs.
  for (int left = 0; left <= 48; left += left < 16 ? 2 : 4) {
    scene("room", number("left", left), [&] {
      stage.gate(60);
      stage.stay_us(2, kMultiply1, sms - left, 120, "kernel");
      stage.stay_us(4, kDelay, 1, 30, "delay of nccl");
      stage.wait(1, stage.record(4));
      stage.stay_us(1, kNccl, 32, 50, "nccl");
    });
  }

  // CTAs that hold SMs for a while, and stream 2 behind their start.
  const auto behind_held = [&](int ctas, double us) {
    stage.gate(60);
    if (ctas > 0) stage.stay_us(1, kNccl, ctas, us, "nccl");
    stage.stay_us(4, kDelay, 1, 30, "delay of kernel");
    stage.wait(2, stage.record(4));
  };

  // 5. How blocks lie: kernels that would fit more than once on an SM, on an idle GPU and beside a collective.
  for (const Shape* kernel : {&kMultiply2, &kUpdate2, &kUpdate4, &kElementwise}) {
    for (const int held : {0, 4, 24, 32}) {
      for (const int blocks : {64, 100, 128, 132, 200, 264, 528, 1056}) {
        scene("layout", setting("kernel", kernel->name) + "," + number("held", held) + "," + number("asked", blocks),
              [&] {
                behind_held(held, 400);
                stage.stay_us(2, *kernel, blocks, 40, "kernel");
              });
      }
    }
  }

  // 6. What follows what, and when: the next kernel of a stream, one behind a wait, behind two, behind a wait for what
  // has long happened, alone and where another stream becomes ready at the same time.
  for (const bool company : {false, true}) {
    for (const char* chain : {"next", "wait", "two waits", "two waits, one long over", "wait and record",
                              "wait, record, next", "two waits of two streams"}) {
      scene("chain", setting("chain", chain) + "," + number("company", company ? 1 : 0), [&] {
        const std::string c = chain;
        stage.gate(80);
        const int early = stage.record(3);
        stage.stay_us(2, kMultiply1, sms, 40, "kernel");
        if (c == "two waits of two streams") stage.stay_us(4, kDelay, 1, 30, "other");
        const int other = stage.record(4);
        const int event = stage.record(2);
        if (company) {
          stage.wait(3, event);
          stage.stay_us(3, kNccl, 32, 20, "nccl");
        }
        int follower = 1;
        if (c == "next") follower = 2;
        if (c == "wait" || c == "wait and record") stage.wait(1, event);
        if (c == "wait and record") stage.record(1);
        if (c == "two waits") {
          stage.wait(1, event);
          stage.wait(1, stage.record(2));
        }
        if (c == "two waits, one long over") {
          stage.wait(1, early);
          stage.wait(1, event);
        }
        if (c == "two waits of two streams") {
          stage.wait(1, other);
          stage.wait(1, event);
        }
        if (c == "wait, record, next") {
          stage.wait(5, event);
          stage.wait(1, stage.record(5));
        }
        stage.stay_us(follower, kElementwise, sms * 8, 5, "follower");
      });
    }
  }

  // 7. What work takes on fewer SMs: kernels of real work, beside CTAs that hold SMs and do nothing.
  for (const Shape* kernel : {&kRows2, &kRows4, &kRows8, &kStream, &kFma2}) {
    for (const int blocks : {66, 132, 264, 528, 1056, 132 * 40}) {
      for (const int held : {0, 4, 8, 16, 32, 64}) {
        const double amount = kernel == &kFma2 ? 500 : kernel == &kStream ? 40 : 60;
        scene("work", setting("kernel", kernel->name) + "," + number("asked", blocks) + "," + number("held", held),
              [&] {
                behind_held(held, 3000);
                stage.launch(2, *kernel, blocks, amount, "work");
              });
      }
    }
  }
  return 0;
}
