#include "simulator/trace/ilt/session_rows.hpp"

namespace interlace::trace {

std::string_view to_string(LedgerState state) { return state == LedgerState::kOpen ? "open" : "closed"; }

void count_losses(const LedgerRow& last, std::string_view place, Diagnostics& diagnostics) {
  if (last.dropped > 0) diagnostics.count(kRefusedWork, place, last.dropped);
  if (last.untimed > 0) diagnostics.count(kUntimedWork, place, last.untimed);
  if (last.undelivered > 0) diagnostics.count(kUndeliveredWork, place, last.undelivered);
  if (last.pending > 0) diagnostics.count(kPendingWork, place, last.pending);
}

}  // namespace interlace::trace
