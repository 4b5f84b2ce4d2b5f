#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cupti_collector/calls.hpp"
#include "cupti_collector/cupti_library.hpp"

namespace interlace::collector {

/// Which kinds of records CUPTI makes, and of which calls. Devices, contexts and streams are told of from the
/// beginning, since they are told of once.
class Activities {
 public:
  /// light: of calls only those that launch, copy, record, wait or synchronise; no allocations, and not the profiler's
  /// own time. cupti must outlive this. whole_graphs: a launch of a graph is one record.
  Activities(const CuptiLibrary& cupti, bool light, bool whole_graphs);

  /// Each gives what CUPTI refused, in words; empty where all is on. is_late: there may be contexts already.
  [[nodiscard]] std::vector<std::string> enable_places();
  [[nodiscard]] std::vector<std::string> enable(bool is_late);
  /// Recording ends in two steps: what is launched is no longer told of, but the work of what was goes on to be; then
  /// that is not either.
  void disable_calls();
  void disable_work();

  [[nodiscard]] const CallTable& runtime() const { return runtime_; }
  [[nodiscard]] const CallTable& driver() const { return driver_; }

 private:
  using Kinds = std::vector<std::pair<CUpti_ActivityKind, const char*>>;
  void enable_kinds(const Kinds& kinds, std::vector<std::string>& refused) const;
  void enable_calls(bool is_late, std::vector<std::string>& refused);

  const CuptiLibrary& cupti_;
  bool light_;
  Kinds of_calls_;
  Kinds of_work_;
  CallTable runtime_;
  CallTable driver_;
};

}  // namespace interlace::collector
