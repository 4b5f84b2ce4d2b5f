#include "simulator/ingest/kineto/keys.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace interlace::ingest::kineto {

namespace {

template <class Value>
struct Entry {
  std::string_view text;
  Value value;
};

constexpr std::array kEventKeys{
    Entry<Key>{"ph", Key::kPhase},     Entry<Key>{"cat", Key::kCategory}, Entry<Key>{"name", Key::kName},
    Entry<Key>{"pid", Key::kProcess},  Entry<Key>{"tid", Key::kThread},   Entry<Key>{"ts", Key::kTime},
    Entry<Key>{"dur", Key::kDuration}, Entry<Key>{"id", Key::kId},        Entry<Key>{"args", Key::kArgs},
};

constexpr std::array kArgumentKeys{
    Entry<Key>{"device", Key::kDevice},
    Entry<Key>{"inDevice", Key::kInDevice},
    Entry<Key>{"stream", Key::kStream},
    Entry<Key>{"correlation", Key::kCorrelation},
    Entry<Key>{"bytes", Key::kBytes},
    Entry<Key>{"registers per thread", Key::kRegisters},
    Entry<Key>{"shared memory", Key::kSharedMemory},
    Entry<Key>{"grid", Key::kGrid},
    Entry<Key>{"block", Key::kBlock},
    Entry<Key>{"priority", Key::kPriority},
    Entry<Key>{"graph node id", Key::kGraphNode},
    Entry<Key>{"occupancy", Key::kOccupancy},
    Entry<Key>{"activeBlocksPerMultiprocessor", Key::kActiveBlocks},
    Entry<Key>{"Collective name", Key::kCollectiveName},
    Entry<Key>{"In msg nelems", Key::kInElements},
    Entry<Key>{"Out msg nelems", Key::kOutElements},
    Entry<Key>{"Group size", Key::kGroupSize},
    Entry<Key>{"dtype", Key::kDtype},
    Entry<Key>{"Process Group Name", Key::kGroupName},
    Entry<Key>{"Seq", Key::kSequence},
    Entry<Key>{"In split size", Key::kInSplits},
    Entry<Key>{"Out split size", Key::kOutSplits},
    Entry<Key>{"Process Group Ranks", Key::kGroupRanks},
    Entry<Key>{"cuda_sync_kind", Key::kSyncKind},
    Entry<Key>{"wait_on_stream", Key::kWaitOnStream},
    Entry<Key>{"wait_on_cuda_event_record_corr_id", Key::kWaitOnRecord},
    Entry<Key>{"wait_on_cuda_event_id", Key::kWaitOnEvent},
    Entry<Key>{"event_id", Key::kEventId},
    Entry<Key>{"Sequence number", Key::kSequenceNumber},
    Entry<Key>{"Fwd thread id", Key::kForwardThread},
    Entry<Key>{"Addr", Key::kAddress},
    Entry<Key>{"Bytes", Key::kMemoryBytes},
    Entry<Key>{"Total Allocated", Key::kTotalAllocated},
    Entry<Key>{"Total Reserved", Key::kTotalReserved},
    Entry<Key>{"Device Type", Key::kDeviceType},
    Entry<Key>{"name", Key::kArgsName},
};

constexpr std::array kCategories{
    Entry<Category>{"cpu_op", Category::kCpuOp},
    Entry<Category>{"ac2g", Category::kLaunch},
    Entry<Category>{"cuda_runtime", Category::kHostCall},
    Entry<Category>{"cuda_driver", Category::kHostCall},
    Entry<Category>{"kernel", Category::kKernel},
    Entry<Category>{"cuda_sync", Category::kSync},
    Entry<Category>{"cuda_event", Category::kCudaEvent},
    Entry<Category>{"python_function", Category::kPython},
    Entry<Category>{"gpu_memcpy", Category::kMemcpy},
    Entry<Category>{"gpu_memset", Category::kMemset},
    Entry<Category>{"user_annotation", Category::kAnnotation},
    Entry<Category>{"gpu_user_annotation", Category::kDeviceAnnotation},
    Entry<Category>{"cpu_instant_event", Category::kInstant},
    Entry<Category>{"fwdbwd", Category::kForwardBackward},
    Entry<Category>{"overhead", Category::kOverhead},
    // Written by PyTorch 1.8 to 1.13.
    Entry<Category>{"async_cpu_to_gpu", Category::kLaunch},
    Entry<Category>{"forward_backward", Category::kForwardBackward},
    Entry<Category>{"Operator", Category::kCpuOp},
    Entry<Category>{"Runtime", Category::kHostCall},
    Entry<Category>{"Kernel", Category::kKernel},
    Entry<Category>{"Memcpy", Category::kMemcpy},
    Entry<Category>{"Memset", Category::kMemset},
};

/// A perfect hash over a fixed table: the multiplier is searched at compile time so that no two texts meet in a slot.
template <class Value, std::size_t kEntries>
class PerfectTable {
 public:
  constexpr PerfectTable(const std::array<Entry<Value>, kEntries>& entries, Value otherwise)
      : entries_(entries), otherwise_(otherwise) {
    while (!fill()) ++multiplier_;
  }

  [[nodiscard]] constexpr Value find(std::string_view text) const {
    if (text.empty()) return otherwise_;
    const std::uint8_t entry = slots_[slot_of(text)];
    return entry < kEntries && entries_[entry].text == text ? entries_[entry].value : otherwise_;
  }

 private:
  static constexpr std::size_t kSlots = 256;

  [[nodiscard]] constexpr std::size_t slot_of(std::string_view text) const {
    const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
    const auto length = static_cast<std::uint32_t>(text.size());
    const std::uint32_t mixed = at(0) | (at(text.size() / 2) << 8U) | (at(text.size() - 1) << 16U) | (length << 24U);
    return (mixed * multiplier_) >> 24U;
  }

  constexpr bool fill() {
    slots_.fill(kEntries);
    for (std::size_t i = 0; i < kEntries; ++i) {
      std::uint8_t& slot = slots_[slot_of(entries_[i].text)];
      if (slot != kEntries) return false;
      slot = static_cast<std::uint8_t>(i);
    }
    return true;
  }

  std::array<Entry<Value>, kEntries> entries_;
  Value otherwise_;
  std::array<std::uint8_t, kSlots> slots_{};
  std::uint32_t multiplier_ = 2654435769U;
};

constexpr PerfectTable kEventTable(kEventKeys, Key::kNone);
constexpr PerfectTable kArgumentTable(kArgumentKeys, Key::kNone);
constexpr PerfectTable kCategoryTable(kCategories, Category::kOther);

}  // namespace

Key event_key(std::string_view text) { return kEventTable.find(text); }
Key argument_key(std::string_view text) { return kArgumentTable.find(text); }
Category category_of(std::string_view text) { return kCategoryTable.find(text); }

}  // namespace interlace::ingest::kineto
