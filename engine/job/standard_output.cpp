#include "engine/job/standard_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <ext/stdio_filebuf.h>
#include <iostream>

namespace interlace::engine {

void keep_standard_output() {
  std::cout.flush();
  static_cast<void>(std::fflush(stdout));
  const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (kept < 0) return;  // it is closed
  if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    close(kept);
    return;
  }
  // Ranks that fail end without writing what is buffered: the log that says why.
  static_cast<void>(std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ));
  // It lives to the end, as std::cout does.
  std::cout.rdbuf(new __gnu_cxx::stdio_filebuf<char>(kept, std::ios::out));
}

}  // namespace interlace::engine
