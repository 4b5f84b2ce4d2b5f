// A program with PyTorch on CPUs over the fake CUDA, whose ranges are to be recorded: torch_ranges_program SCENARIO.
#include <ATen/record_function.h>
#include <torch/csrc/autograd/generated/variable_factories.h>

#include <iostream>
#include <memory>
#include <string_view>
#include <thread>

#include "tests/support/fake_cuda/fake_cuda.hpp"

namespace {

constexpr std::uint64_t kKernelTime = 100'000;

/// As `record_function` does.
std::unique_ptr<at::RecordFunction> open_range(std::string_view name) {
  auto range = std::make_unique<at::RecordFunction>(at::RecordScope::USER_SCOPE);
  if (range->isActive()) range->before(std::string(name));
  return range;
}

/// Two steps of y = (w * x).sum(), backward and all.
void train() {
  auto weights = torch::ones({4}, at::requires_grad());
  for (int step = 0; step < 2; ++step) {
    const auto whole = open_range("## step " + std::to_string(step) + " ##");
    auto forward = open_range("## forward ##");
    const auto loss = weights.mul(torch::ones({4})).sum();
    fake_cuda_launch(7, "forward_kernel", kKernelTime, kFakeNormal);
    forward->end();
    const auto backward = open_range("## backward ##");
    loss.backward();
    const at::NoGradGuard none;
    at::relu(weights);  // autograd does not number it
    backward->end();
    whole->end();
  }
}

/// A range that another thread ends, behind one that began later.
void end_elsewhere() {
  auto across = open_range("across threads");
  auto later = open_range("later");
  std::thread([&] { across->end(); }).join();
  later->end();
  fake_cuda_launch(7, "kernel", kKernelTime, kFakeNormal);
}

}  // namespace

int main(int, char** words) {
  const std::string_view scenario = words[1];
  const auto before = open_range("before CUDA");
  fake_cuda_init();
  before->end();
  if (scenario == "train") train();
  if (scenario == "end_elsewhere") end_elsewhere();
  fake_cuda_synchronize();
  std::cout << "it ran\n";
  return 0;
}
