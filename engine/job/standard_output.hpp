#pragma once

namespace interlace::engine {

/// From here on standard output is what std::cout writes, and nothing else: what libraries print there goes to standard
/// error. NCCL logs there, by NCCL_DEBUG or the files that it reads settings from, and its NCCL_DEBUG_FILE is no way
/// out: it does not hold for the line that tells NCCL's version, and a log that is named so is emptied first. To be
/// called once, before libraries have threads that print. Programs that are started later inherit the changed
/// descriptors.
void keep_standard_output();

}  // namespace interlace::engine
