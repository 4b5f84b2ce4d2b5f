#include "simulator/base/program.hpp"

#include <exception>
#include <iostream>
#include <new>

namespace interlace {

int end_of(const std::function<int()>& program, const int& failure) {
  std::ios::sync_with_stdio(false);
  try {
    const int status = program();
    std::cout.flush();
    if (std::cout) return status;
    std::cerr << Error(kOutputLost, "standard output", "cannot be written",
                       "see that what reads it, or its disk, takes it all")
                     .what()
              << '\n';
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
  } catch (const std::bad_alloc&) {
    std::cerr << Error(kOutOfMemory, "this machine", "its memory is used up", "name fewer or smaller files").what()
              << '\n';
  } catch (const std::exception& error) {
    std::cerr << Error(kUnforeseen, "this program", error.what(),
                       "this is a fault of Interlace: please report it, with the command and its input")
                     .what()
              << '\n';
  }
  return failure;
}

}  // namespace interlace
