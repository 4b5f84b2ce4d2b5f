#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cupti_collector/calls.hpp"
#include "cupti_collector/cupti_library.hpp"

namespace interlace::collector {

/// Which kinds of records CUPTI makes, and of which calls.
class Activities {
 public:
  /// light: runtime calls only where they launch, copy, record, wait or synchronise, and no allocations. cupti must
  /// outlive this.
  /// whole_graphs: a launch of a graph is one record.
  Activities(const CuptiLibrary& cupti, bool light, bool whole_graphs);

  /// Turns recording on. Gives what CUPTI refused, in words; empty where all is on.
  [[nodiscard]] std::vector<std::string> enable();
  void disable();

  [[nodiscard]] const CallTable& runtime() const { return runtime_; }
  [[nodiscard]] const CallTable& driver() const { return driver_; }

 private:
  void enable_calls(std::vector<std::string>& refused);

  const CuptiLibrary& cupti_;
  bool light_;
  std::vector<std::pair<CUpti_ActivityKind, const char*>> kinds_;
  CallTable runtime_;
  CallTable driver_;
};

}  // namespace interlace::collector
