#pragma once

#include <cstddef>
#include <cstdint>

#include "cupti_collector/cupti_library.hpp"
#include "cupti_collector/records.hpp"

namespace interlace::collector {

/// What a buffer held beside the records given to the sink.
struct DecodeResult {
  std::int64_t records = 0;    ///< of all kinds
  std::int64_t too_short = 0;  ///< of a known kind, but of an older layout that lacks what is needed
  std::int64_t unknown = 0;    ///< of kinds that are not asked for
  bool is_whole = true;        ///< false where CUPTI could not step to the buffer's end
};

/// Records own memory that their last reader frees.
enum class Reading : std::uint8_t { kLook, kLast };

/// Gives the records of one buffer to the sink, in their order. The layout of a record follows the libcupti that is
/// loaded, not the headers: newer structs extend older ones, so what a record takes in the buffer tells which fields it
/// has. buffer must hold valid_bytes of records of that libcupti.
DecodeResult decode(const CuptiLibrary& cupti, std::uint8_t* buffer, std::size_t valid_bytes, RecordSink& sink,
                    Reading reading);

}  // namespace interlace::collector
