#pragma once

#include <cstddef>
#include <cstdint>

/// NCCL's profiler plugin interface, versions 1 to 7 (since NCCL 2.23), as far as it is used here: what NCCL hands to
/// a plugin, and what it looks up by the names ncclProfiler_v1 ... in the library that NCCL_PROFILER_PLUGIN names.
/// Later versions of NCCL fall back to the newest of these that they find.
namespace interlace::collector::nccl {

using Result = int;  // ncclResult_t
inline constexpr Result kSuccess = 0;

/// Bits of the mask by which a plugin asks for events, and the type of an event.
inline constexpr int kGroup = 1 << 0;  ///< the work of one kernel
inline constexpr int kCollective = 1 << 1;
inline constexpr int kPointToPoint = 1 << 2;
inline constexpr int kCollectiveCall = 1 << 9;  ///< since version 5: ncclAllReduce and others as the program calls them

/// The two kinds of tasks in the descriptor of an event, by version.
struct CollectiveV1 {
  const char* communicator_name;
  std::uint64_t communicator_hash;
  std::uint64_t sequence;
  std::uint8_t function;  ///< ncclFunc_t
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  std::uint8_t datatype;  ///< ncclDataType_t
  std::uint32_t operation;
  std::size_t traffic_bytes;
  std::uint8_t channels;
};
struct PointToPointV1 {
  const char* communicator_name;
  std::uint64_t communicator_hash;
  std::uint8_t function;
  void* buffer;
  std::uint8_t datatype;
  std::size_t count;
  int peer;
};
struct CollectiveV2 {
  const char* communicator_name;
  std::uint64_t communicator_hash;
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  std::size_t traffic_bytes;
  std::uint8_t channels;
};
struct CollectiveV3 {
  const char* communicator_name;
  std::uint64_t communicator_hash;
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t channels;
};
/// Versions 2 and 3.
struct PointToPointV2 {
  const char* communicator_name;
  std::uint64_t communicator_hash;
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
};
/// Versions 4 to 7, up to where they differ.
struct CollectiveV4 {
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t channels;
};
struct PointToPointV4 {
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t channels;
};
struct CollectiveCallV5 {
  const char* function;
  std::size_t count;
  const char* datatype;
  int root;
};

/// An event. The type has a byte up to version 4, eight since; what follows lies alike.
template <class Type, class Collective, class PointToPoint>
struct Descriptor {
  Type type;
  void* parent;
  int rank;
  union {
    Collective collective;
    PointToPoint point_to_point;
    CollectiveCallV5 call;  ///< since version 5
  };
};
using DescriptorV1 = Descriptor<std::uint8_t, CollectiveV1, PointToPointV1>;
using DescriptorV2 = Descriptor<std::uint8_t, CollectiveV2, PointToPointV2>;
using DescriptorV3 = Descriptor<std::uint8_t, CollectiveV3, PointToPointV2>;
using DescriptorV4 = Descriptor<std::uint8_t, CollectiveV4, PointToPointV4>;
using DescriptorV5 = Descriptor<std::uint64_t, CollectiveV4, PointToPointV4>;

using Logger = void (*)(int level, unsigned long flags, const char* file, int line, const char* format, ...);
/// As a communicator is made, by version: context is handed back with each event, mask receives which are wanted.
using InitV1 = Result (*)(void** context, int* mask);
using InitV4 = Result (*)(void** context, int* mask, const char* name, std::uint64_t hash, int nodes, int ranks,
                          int rank, Logger logger);
using InitV5 = Result (*)(void** context, std::uint64_t id, int* mask, const char* name, int nodes, int ranks, int rank,
                          Logger logger);

/// What a plugin exports.
template <class Init, class Event>
struct Profiler {
  const char* name;
  Init init;
  Result (*start)(void* context, void** handle, Event* event);
  Result (*stop)(void* handle);
  Result (*record_state)(void* handle, int state, void* arguments);
  Result (*finalize)(void* context);
};

}  // namespace interlace::collector::nccl
