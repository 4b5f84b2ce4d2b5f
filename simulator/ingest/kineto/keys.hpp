#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace interlace::ingest::kineto {

/// The fields of an event, and of its args, that are read. kNone: any other.
enum class Key : std::uint8_t {
  // of an event
  kPhase,
  kCategory,
  kName,
  kProcess,
  kThread,
  kTime,
  kDuration,
  kId,
  kArgs,
  // of args: device work
  kDevice,
  kInDevice,
  kStream,
  kCorrelation,
  kBytes,
  kRegisters,
  kSharedMemory,
  kGrid,
  kBlock,
  kPriority,
  kGraphNode,
  kOccupancy,
  kActiveBlocks,
  // of args: collectives
  kCollectiveName,
  kInElements,
  kOutElements,
  kGroupSize,
  kDtype,
  kGroupName,
  kSequence,
  kInSplits,
  kOutSplits,
  kGroupRanks,
  // of args: synchronisation
  kSyncKind,
  kWaitOnStream,
  kWaitOnRecord,
  kWaitOnEvent,
  kEventId,
  // of args: host ranges and memory
  kSequenceNumber,
  kForwardThread,
  kAddress,
  kMemoryBytes,
  kTotalAllocated,
  kTotalReserved,
  kDeviceType,
  // of args: metadata
  kArgsName,
  kNone,
};
inline constexpr std::size_t kKeys = static_cast<std::size_t>(Key::kNone);

[[nodiscard]] Key event_key(std::string_view text);
[[nodiscard]] Key argument_key(std::string_view text);

/// What an event is, by its `cat`.
enum class Category : std::uint8_t {
  kKernel,
  kMemcpy,
  kMemset,
  kHostCall,
  kSync,
  kCudaEvent,
  kCpuOp,
  kAnnotation,
  kPython,
  kOverhead,
  kDeviceAnnotation,
  kInstant,
  kForwardBackward,
  kLaunch,
  kOther,
};
/// Old and new spellings.
[[nodiscard]] Category category_of(std::string_view text);

}  // namespace interlace::ingest::kineto
