#pragma once

#include <string>

#include "tests/support/run_program.hpp"

namespace interlace::cli {

using testing::Finished;

/// Runs the program that was built, as wide as where there is no terminal.
inline Finished interlace(const std::string& arguments, const std::string& columns = "") {
  return testing::run_program("COLUMNS=" + columns + " " INTERLACE_BINARY " " + arguments);
}

/// The recordings of both ranks of a sample schedule.
inline std::string sample(const std::string& schedule) {
  const std::string folder = INTERLACE_SOURCE_DIR "/samples/traces/torchrec_c6/";
  return folder + schedule + ".r0.json.gz " + folder + schedule + ".r1.json.gz";
}

/// The memory snapshot of one of its ranks, which belongs to the recording "SCHEDULE.mem".
inline std::string snapshot(const std::string& schedule, int rank) {
  return INTERLACE_SOURCE_DIR "/samples/traces/torchrec_c6/" + schedule + ".mem.r" + std::to_string(rank) +
         ".snap.pickle";
}

}  // namespace interlace::cli
