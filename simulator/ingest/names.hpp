#pragma once

#include <optional>
#include <string_view>

#include "simulator/trace/operation.hpp"

namespace interlace::ingest {

/// What a CUDA (or HIP) call of this name does, apart from the suffixes of versions and per-thread streams.
struct CallRole {
  trace::OperationKind kind = trace::OperationKind::kHostCall;
  trace::SyncKind sync = trace::SyncKind::kUnknown;  ///< kUnknown: the call has no SyncDetail of its own
};
[[nodiscard]] CallRole call_role(std::string_view name);

/// From and to where a copy goes, by a name such as "Memcpy HtoD (Pinned -> Device)" or "Memset (Device)"; bytes stay
/// 0.
[[nodiscard]] trace::CopyDetail copy_of_name(std::string_view name);

/// Whether a kernel of this name is one of NCCL's or RCCL's.
[[nodiscard]] bool is_collective_kernel(std::string_view name);

/// By the name that PyTorch records ("all_to_allv", "_allgather_base") or that of NCCL's kernel, up to its parameters.
[[nodiscard]] trace::CollectiveFunction collective_function(std::string_view name);

/// Of a dtype as PyTorch names it: "Float" is 4. None where it is not known.
[[nodiscard]] std::optional<Bytes> element_bytes(std::string_view dtype);

}  // namespace interlace::ingest
