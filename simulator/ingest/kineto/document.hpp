#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/ingest/kineto/events.hpp"

namespace interlace::ingest::kineto {

inline constexpr ErrorCode kTruncated{"kineto.truncated"};
inline constexpr ErrorCode kLostTimes{"kineto.lost_times"};
inline constexpr ErrorCode kNotATrace{"kineto.not_a_trace"};
inline constexpr ErrorCode kTooDamaged{"kineto.too_damaged"};

/// A Kineto file taken apart: the text of the fields beside traceEvents, and the events, slice by slice.
struct Document {
  std::map<std::string, std::string, std::less<>> fields;
  bool has_events = false;         ///< whether there is a list traceEvents
  std::vector<EventTable> slices;  ///< in the order of the file
  std::size_t trailing_bytes = 0;  ///< behind the object, beside white space
};

/// Takes apart the JSON object `text`. traceEvents is cut into slices at places that look like the start of an event,
/// the slices are parsed in parallel, and each parse verifies the cut behind it: a slice that does not end exactly
/// where the next begins is read again event by event, as is one with invalid JSON, where single events are mended
/// or, as a last resort, counted and left out.
///
/// slice_bytes: how large a slice shall be; the result does not depend on it, but for the order in which diagnostics
/// are first met. Throws kineto.truncated, kineto.not_a_trace (it is no JSON object),
/// kineto.too_damaged.
[[nodiscard]] Document read_document(std::string_view text, const std::filesystem::path& file,
                                     std::size_t slice_bytes = std::size_t{1} << 19U);

}  // namespace interlace::ingest::kineto
