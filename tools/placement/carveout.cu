// When a kernel that asks for shared memory comes in beside one that is there already and leaves threads, registers and
// shared memory enough: an SM divides its memory into cache and shared memory for what it runs. Prints a line of JSON
// for each repetition of each scene, for summarise.py. One GPU of compute capability 9.0.
//
//   nvcc -std=c++20 -O2 -arch=sm_90 -cudart static -o carveout carveout.cu && ./carveout REPEATS > carveout.jsonl

#include "blocks.cuh"

using namespace placement;

namespace {

constexpr double kHeldUs = 300;
constexpr double kComesAfterUs = 60;
constexpr double kStaysUs = 20;

struct Holder {
  Shape shape;
  int blocks;
};

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 3;
  const Holder holders[] = {
      {{"1 block, no shared memory", stay<256, 14>, 256, 0, 1}, 132},
      {{"1 block, 24 B", stay<256, 14>, 256, 24, 1}, 132},
      {{"1 block, 4 KiB", stay<256, 14>, 256, 4 << 10, 1}, 132},
      {{"1 block, 8 KiB", stay<256, 14>, 256, 8 << 10, 1}, 132},
      {{"1 block, 16 KiB", stay<256, 14>, 256, 16 << 10, 1}, 132},
      {{"1 block, 33 KiB", stay<256, 14>, 256, 33 << 10, 1}, 132},
      {{"1 block, 66 KiB", stay<256, 14>, 256, 66 << 10, 1}, 132},
      {{"1 block, 33 KiB, 2 fit by registers", stay<256, 80>, 256, 33 << 10, 1}, 132},
      {{"3 blocks of 512, no shared memory", stay<512, 14>, 512, 0, 1}, 320},
      {{"1 block on half of the SMs, no shared memory", stay<256, 14>, 256, 0, 1}, 66},
  };
  const Shape comers[] = {
      {"0", stay<128, 4>, 128, 0, 1},
      {"24", stay<128, 4>, 128, 24, 1},
      {"1024", stay<128, 4>, 128, 1 << 10, 1},
      {"2048", stay<128, 4>, 128, 2 << 10, 1},
      {"4096", stay<128, 4>, 128, 4 << 10, 1},
      {"6144", stay<128, 4>, 128, 6 << 10, 1},
      {"8192", stay<128, 4>, 128, 8 << 10, 1},
      {"9984", stay<128, 4>, 128, 9984, 1},
      {"12288", stay<128, 4>, 128, 12 << 10, 1},
      {"16384", stay<128, 4>, 128, 16 << 10, 1},
      {"21520", stay<128, 4>, 128, 21520, 1},
      {"33792", stay<128, 4>, 128, 33 << 10, 1},
      {"49152", stay<128, 4>, 128, 48 << 10, 1},
      {"67584", stay<128, 4>, 128, 66 << 10, 1},
      {"131072", stay<128, 4>, 128, 128 << 10, 1},
  };
  Stage stage;
  stage.gate(10);  // the first launches load code
  for (const Holder& h : holders) stage.stay_us(1, h.shape, 4, 1, h.shape.name);
  for (const Shape& c : comers) stage.stay_us(1, c, 4, 1, c.name);
  stage.print("warm-up", number("repeat", 0));

  for (int repeat = 0; repeat <= repeats; ++repeat) {
    for (const Holder& h : holders) {
      for (const Shape& c : comers) {
        for (const int blocks : {16, 132}) {
          const std::string settings = setting("holder", h.shape.name) + "," + setting("comer", c.name) + "," +
                                       number("blocks", blocks) + "," + number("repeat", repeat);
          stage.gate(40);
          stage.stay_us(1, h.shape, h.blocks, kHeldUs, "holder");
          stage.stay_us(3, kDelay, 1, kComesAfterUs, "delay");
          stage.wait(2, stage.record(3));
          stage.stay_us(2, c, blocks, kStaysUs, "comer");
          stage.print("carveout", settings);
        }
      }
    }
  }
  return 0;
}
