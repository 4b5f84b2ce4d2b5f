#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "simulator/check/program.hpp"

namespace interlace::check {

/// Where the host gives memory back: known only once all is unrolled, since it hangs on the last use.
class ReleasePlan {
 public:
  /// A stage that has run, with all that it launched.
  struct StageRun {
    StageIndex stage;
    std::int64_t iteration = 0;
    std::int64_t batch = 0;
    std::optional<std::uint32_t> module;
    std::size_t operations = 0;  ///< of the program behind it
    std::size_t position = 0;    ///< of the next instruction
  };
  void end_stage(const StageRun& run) { runs_.push_back(run); }
  void end_iteration(std::size_t position) { iteration_ends_.push_back(position); }
  /// A storage that a step frees by name.
  void at_once(BufferIndex buffer, std::size_t position, std::int64_t iteration) {
    named_.push_back({position, buffer, iteration});
  }

  /// Puts kFree, and the marks of record_stream before it, into the instructions: of what was freed by name there; of
  /// all other data of batches behind the last stage that uses them and what "kept_until" says, whichever is later.
  /// A collective, too, holds what it uses: until a stream first waits for it (c10d lets go in work.wait()), or, where
  /// none does, to its end.
  void insert(Program& program) const;

 private:
  struct Release {
    std::size_t position = 0;
    BufferIndex buffer;
    std::int64_t iteration = 0;
  };
  using FirstWaits = std::map<OperationIndex, Release>;  ///< of collectives, as releases without buffer
  [[nodiscard]] static FirstWaits first_waits(const Program& program);
  [[nodiscard]] std::vector<Release> all_releases(const Program& program, const FirstWaits& waits) const;
  [[nodiscard]] Release release_of(const Program& program, BufferIndex index, const FirstWaits& waits) const;

  std::vector<StageRun> runs_;
  std::vector<std::size_t> iteration_ends_;
  std::vector<Release> named_;
};

}  // namespace interlace::check
