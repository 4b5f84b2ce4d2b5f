#pragma once

#include <atomic>
#include <cstdint>

namespace interlace::collector {

/// Where the writer is. CUPTI may hang, and so may a lock of PyTorch's allocator, whose holder may wait for the GPU;
/// the disk is at worst slow: the program's end waits for those less long than for this.
enum class WriterPlace : std::uint8_t { kAtDisk, kInCupti, kInAllocator };

/// While it lives the writer is there.
class WriterIn {
 public:
  /// place: where that is told; none where nobody asks.
  WriterIn(std::atomic<WriterPlace>* place, WriterPlace here)
      : place_(place), before_(place == nullptr ? WriterPlace::kAtDisk : place->exchange(here)) {}
  WriterIn(const WriterIn&) = delete;
  WriterIn& operator=(const WriterIn&) = delete;
  ~WriterIn() {
    if (place_ != nullptr) *place_ = before_;
  }

 private:
  std::atomic<WriterPlace>* place_;
  WriterPlace before_;
};

class InCupti : public WriterIn {
 public:
  explicit InCupti(std::atomic<WriterPlace>* place) : WriterIn(place, WriterPlace::kInCupti) {}
};

class InAllocator : public WriterIn {
 public:
  explicit InAllocator(std::atomic<WriterPlace>* place) : WriterIn(place, WriterPlace::kInAllocator) {}
};

}  // namespace interlace::collector
