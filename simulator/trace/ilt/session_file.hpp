#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/trace/ilt/session_rows.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::trace {

/// What a recording says of itself, without its operations.
struct SessionFacts {
  std::vector<Rank> ranks;            ///< in the order of RankId
  std::vector<ClockSnapshot> clocks;  ///< of all ranks, as written
  std::vector<LedgerRow> ledger;      ///< the last row of each rank that has one, by rank
  std::int64_t operations = 0;        ///< in the file
  std::int64_t file_bytes = 0;
  std::int64_t cut_bytes = 0;  ///< of a chunk at the end that is not whole
  bool is_ended = false;       ///< whether the file has its end chunk

  [[nodiscard]] const LedgerRow* ledger_of(RankId rank) const;
};

/// Reads the facts of an .ilt file, stepping over its operations: quick for files of any size. Throws as read_ilt does.
[[nodiscard]] SessionFacts read_session(const std::filesystem::path& file);

/// Ends a file whose recorder died: cuts off a chunk that is not whole, writes the diagnostics and the end chunk, so
/// that it reads as a whole file that says why it ends; where there is no room for them, in the place of the last whole
/// chunks. The file must not be written by anybody else. False, and the file as it was, where it has its end already or
/// another version of Interlace wrote it. Throws Error `ilt.cannot_write` and as read_ilt does.
bool seal_ilt(const std::filesystem::path& file, const Diagnostics& why);

}  // namespace interlace::trace
