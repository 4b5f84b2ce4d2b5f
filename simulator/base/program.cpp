#include "simulator/base/program.hpp"

#include <exception>
#include <iostream>
#include <new>

#include "simulator/base/error.hpp"

namespace interlace {

int end_of(const std::function<int()>& program) {
  std::ios::sync_with_stdio(false);
  try {
    const int status = program();
    std::cout.flush();
    if (std::cout) return status;
    std::cerr << "error: standard output cannot be written\n";
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
  } catch (const std::bad_alloc&) {
    std::cerr << "error: out of memory\n";
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
  }
  return kFailure;
}

}  // namespace interlace
