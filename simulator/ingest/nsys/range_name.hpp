#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "simulator/trace/operation.hpp"

namespace interlace::ingest::nsys {

/// What the text of a range says.
struct RangeName {
  std::string_view name;                                  ///< a view into the text
  trace::RangeKind kind = trace::RangeKind::kAnnotation;  ///< kAnnotation or kCpuOp
  std::optional<std::int64_t> sequence_number;            ///< of autograd
};

/// Takes the text of a range of NVTX apart. PyTorch in emit_nvtx() writes operators and record_function() alike, with
/// numbers behind the name: "aten::mul, seq = 3, op_id = 17, sizes = [[2, 3]]" (its getNvtxStr). Of these, those with a
/// number of autograd or a name of operators ("::") are such; all else divides the program.
[[nodiscard]] RangeName range_name(std::string_view text);

}  // namespace interlace::ingest::nsys
