#pragma once

#include <array>
#include <limits>
#include <string_view>

#include "simulator/allocator/types.hpp"
#include "simulator/base/diagnostics.hpp"
#include "simulator/base/error.hpp"

namespace interlace::allocator {

inline constexpr ErrorCode kBadConfiguration{"allocator.bad_configuration"};
inline constexpr ErrorCode kBadOptionValue{"allocator.bad_option_value"};
inline constexpr ErrorCode kUnsupportedBackend{"allocator.unsupported_backend"};

inline constexpr DiagnosticKind kOptionNotModelled{
    "allocator.option_not_modelled", Severity::kWarning,
    "an option of PYTORCH_CUDA_ALLOC_CONF that changes what the allocator does, or is not known, is not modelled",
    "predicted memory may be off where the option acts"};

/// What PYTORCH_CUDA_ALLOC_CONF sets, as far as it decides where blocks go. The values here are PyTorch's own.
struct Configuration {
  static constexpr Bytes kUnlimited = std::numeric_limits<Bytes>::max();
  /// Request sizes that have a number of divisions of their own: [1, 2) MiB (and all below), [2, 4) MiB, ... and from
  /// 32 GiB on.
  static constexpr std::size_t kDivisionIntervals = 16;

  /// Size of a segment for large requests below 10 MiB, and page of expandable segments of the large pool.
  Bytes large_segment_size = 20 * kMiB;
  /// Blocks of this size and more are never split, and smaller requests do not get them.
  Bytes max_split_size = kUnlimited;
  /// A request of max_split_size or more takes a free block that is larger by less than this.
  Bytes max_non_split_rounding = 20 * kMiB;
  /// Above this part of the cap a miss releases old blocks first; 0: never. Acts only under a cap.
  double garbage_collection_threshold = 0;
  /// Steps between powers of two that requests are rounded up to, by interval; 0 and 1: multiples of 512 bytes.
  std::array<Bytes, kDivisionIntervals> roundup_power2_divisions{};
  bool expandable_segments = false;
  /// Below 1: the allocator never holds more than this part of the device's memory.
  double per_process_memory_fraction = 1;

  bool operator==(const Configuration&) const = default;
};

/// Reads the value of PYTORCH_CUDA_ALLOC_CONF ("key:value,key:[size:value,>:value]"; may be empty) as PyTorch does.
/// `source` names its origin in messages. Options that concern pinned host memory or locks are checked and left out;
/// one that would change the model but is not part of it is counted in `diagnostics`, and so is one that is not known:
/// settings are those of recordings, whose PyTorch, a newer one perhaps, has accepted them.
/// Throws Error(allocator.bad_configuration | bad_option_value | unsupported_backend).
[[nodiscard]] Configuration parse_configuration(std::string_view text, std::string_view source,
                                                Diagnostics& diagnostics);

}  // namespace interlace::allocator
