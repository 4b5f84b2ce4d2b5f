#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace interlace::engine {

/// The environment variable that tells a rank that start_ranks() holds the store at MASTER_ADDR:MASTER_PORT.
inline constexpr const char* kStoreIsHeld = "INTERLACE_STORE_IS_HELD";

inline constexpr std::chrono::seconds kGrace{5};

/// Starts `program` once a rank, with the variables that torchrun sets and this process's output, and waits for all.
/// Returns 0 where all ended well. Where a process dies without a word, the failure of the job is claimed for it: the
/// others end, and engine.rank_lost is thrown, which names the rank and where it stood last. Else 1: the rank that
/// failed has told why. Processes that outlast a failure by kGrace are killed.
[[nodiscard]] int start_ranks(const std::string& program, const std::vector<std::string>& arguments, int ranks);

}  // namespace interlace::engine
