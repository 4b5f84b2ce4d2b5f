#include "simulator/check/release.hpp"

#include <algorithm>

namespace interlace::check {

std::vector<ReleasePlan::Release> ReleasePlan::all_releases(const Program& program, bool early) const {
  std::vector<Release> releases = named_;
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.freed_by || !program.data[buffer.datum.index()].batch) continue;
    const OperationIndex last = std::ranges::max(buffer.uses);
    const std::int64_t iteration = program.operation(last).iteration;
    std::size_t position = iteration_ends_[static_cast<std::size_t>(iteration + program.depth)];
    if (early) {
      position = std::ranges::upper_bound(stage_ends_, last.index(), {}, &End::operations)->position;
    }
    releases.push_back({position, {b}, iteration});
  }
  std::ranges::stable_sort(releases, {}, &Release::position);
  return releases;
}

void ReleasePlan::insert(Program& program, bool early) const {
  const std::vector<Release> releases = all_releases(program, early);
  std::vector<Instruction> merged;
  merged.reserve(program.instructions.size() + 2 * releases.size());
  auto next = releases.begin();
  const auto release_up_to = [&](std::size_t position) {
    for (; next != releases.end() && next->position <= position; ++next) {
      Buffer& buffer = program.buffers[next->buffer.index()];
      Instruction instruction{.kind = Instruction::Kind::kMark};
      instruction.iteration = next->iteration;
      for (const LaneIndex lane : buffer.recorded) {
        instruction.lane = lane;
        instruction.mark = {program.marks++};
        buffer.marks.push_back(instruction.mark);
        merged.push_back(instruction);
      }
      buffer.freed_at = merged.size();
      instruction.kind = Instruction::Kind::kFree;
      instruction.lane = Program::kHost;
      instruction.buffer = next->buffer;
      merged.push_back(instruction);
    }
  };
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    release_up_to(i);
    merged.push_back(program.instructions[i]);
  }
  release_up_to(program.instructions.size());
  program.instructions = std::move(merged);
}

}  // namespace interlace::check
