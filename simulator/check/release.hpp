#pragma once

#include <cstddef>
#include <vector>

#include "simulator/check/program.hpp"

namespace interlace::check {

/// Where the host gives memory back: known only once all is unrolled, since it hangs on the last use.
class ReleasePlan {
 public:
  /// All operations below `operations` came from stages that ended before instruction `position`.
  void end_stage(std::size_t operations, std::size_t position) { stage_ends_.push_back({operations, position}); }
  void end_iteration(std::size_t position) { iteration_ends_.push_back(position); }
  /// A storage that a step frees by name.
  void at_once(BufferIndex buffer, std::size_t position, std::int64_t iteration) {
    named_.push_back({position, buffer, iteration});
  }

  /// Puts kFree, and the marks of record_stream before it, into the instructions: of what was freed by name there; of
  /// all other data of batches at the end of the last iteration that uses them, or `early` behind the last stage.
  void insert(Program& program, bool early) const;

 private:
  struct End {
    std::size_t operations = 0;
    std::size_t position = 0;
  };
  struct Release {
    std::size_t position = 0;
    BufferIndex buffer;
    std::int64_t iteration = 0;
  };
  [[nodiscard]] std::vector<Release> all_releases(const Program& program, bool early) const;

  std::vector<End> stage_ends_;
  std::vector<std::size_t> iteration_ends_;
  std::vector<Release> named_;
};

}  // namespace interlace::check
