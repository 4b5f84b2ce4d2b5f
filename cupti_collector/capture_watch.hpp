#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "cupti_collector/records.hpp"

namespace interlace::collector {

/// Joins the calls that begin and end the capture of a stream. Records of a thread come in their order.
class CaptureWatch {
 public:
  void begin(ApiDomain domain, std::uint32_t thread, std::int64_t correlation) {
    open_[{domain, thread}].push_back(correlation);
  }

  /// The call that began the capture which ends here: the thread's last; where that has begun none, any other's, as a
  /// relaxed capture may end in another thread.
  [[nodiscard]] std::optional<std::int64_t> end(ApiDomain domain, std::uint32_t thread) {
    auto of_thread = open_.find({domain, thread});
    for (auto other = open_.begin(); of_thread == open_.end() && other != open_.end(); ++other) {
      if (std::get<0>(other->first) == domain) of_thread = other;
    }
    if (of_thread == open_.end()) return std::nullopt;
    const std::int64_t correlation = of_thread->second.back();
    of_thread->second.pop_back();
    if (of_thread->second.empty()) open_.erase(of_thread);
    return correlation;
  }

  /// The first call that began a capture which has not ended.
  [[nodiscard]] std::optional<std::int64_t> first_open() const {
    std::optional<std::int64_t> first;
    for (const auto& [thread, begins] : open_) {
      for (const std::int64_t begin : begins) first = first ? std::min(*first, begin) : begin;
    }
    return first;
  }

 private:
  std::map<std::tuple<ApiDomain, std::uint32_t>, std::vector<std::int64_t>> open_;
};

}  // namespace interlace::collector
