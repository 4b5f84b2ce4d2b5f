#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "simulator/base/error.hpp"

namespace interlace::engine {

inline constexpr ErrorCode kJobStore{"engine.job_store"};

/// Where the store of a job is.
struct StorePlace {
  std::string host;
  std::uint16_t port = 0;  ///< 0, where it serves: any that is free
  bool serves = false;     ///< this process holds it
  bool of_rank_0 = false;  ///< rank 0 does; else whoever started the ranks
  std::string attempt;     ///< which keys are this job's, where the store outlives it; the same on all ranks
};

/// The key-value store by which the processes of a job find each other and tell how they fare: LibTorch's TCPStore, so
/// that the one of torchrun will do. Calls of one object must not overlap: each thread has its own.
class JobStore {
 public:
  static constexpr std::chrono::seconds kConnectLimit{25};

  /// Throws engine.job_store where it cannot be reached within that time, as all other calls do where it is gone.
  explicit JobStore(const StorePlace& place, std::chrono::milliseconds limit = kConnectLimit);
  JobStore(const JobStore&) = delete;
  JobStore& operator=(const JobStore&) = delete;
  JobStore(JobStore&&) = delete;
  JobStore& operator=(JobStore&&) = delete;
  ~JobStore();

  /// For others to reach it.
  [[nodiscard]] StorePlace place() const;
  /// Others may see it a moment later: get() waits for it, has() does not.
  void put(const std::string& key, const std::string& value);
  /// Waits until the key is there.
  [[nodiscard]] std::string get(const std::string& key);
  [[nodiscard]] bool has(const std::string& key);
  /// Of all claims of a key the first puts its value and gets true.
  [[nodiscard]] bool claim(const std::string& key, const std::string& value);

 private:
  struct Store;
  [[nodiscard]] std::string key_of(const std::string& key) const;
  StorePlace place_;
  std::unique_ptr<Store> store_;
};

}  // namespace interlace::engine
