#include "simulator/check/release.hpp"

#include <algorithm>

namespace interlace::check {

ReleasePlan::Release ReleasePlan::release_of(const Program& program, BufferIndex index) const {
  const Buffer& buffer = program.buffer(index);
  const OperationIndex last = std::ranges::max(buffer.uses);
  const auto last_run = std::ranges::upper_bound(runs_, last.index(), {}, &StageRun::operations);
  Release release{last_run->position, index, last_run->iteration};
  if (!buffer.maker) return release;
  const Operation& maker = program.operation(*buffer.maker);
  const auto& kept_until = program.stage(maker.stage).kept_until;
  if (!kept_until) return release;
  const auto keep_to = [&](std::size_t position, std::int64_t iteration) {
    if (position > release.position) release = {position, index, iteration};
  };
  if (!kept_until->stage) {
    // The iteration that trains a batch has its number.
    keep_to(iteration_ends_[static_cast<std::size_t>(maker.batch + program.depth)], maker.batch);
    return release;
  }
  for (const StageRun& run : runs_) {
    if (run.batch != maker.batch || program.stage(run.stage).stage != *kept_until->stage) continue;
    if (run.module && maker.module && run.module != maker.module) continue;
    keep_to(run.position, run.iteration);
  }
  return release;
}

std::vector<ReleasePlan::Release> ReleasePlan::all_releases(const Program& program) const {
  std::vector<Release> releases = named_;
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (!buffer.freed_by && program.data[buffer.datum.index()].batch) releases.push_back(release_of(program, {b}));
  }
  std::ranges::stable_sort(releases, {}, &Release::position);
  return releases;
}

void ReleasePlan::insert(Program& program) const {
  const std::vector<Release> releases = all_releases(program);
  std::vector<Instruction> merged;
  merged.reserve(program.instructions.size() + 2 * releases.size());
  auto next = releases.begin();
  const auto release_up_to = [&](std::size_t position) {
    for (; next != releases.end() && next->position <= position; ++next) {
      Buffer& buffer = program.buffers[next->buffer.index()];
      std::erase(buffer.recorded, buffer.pool);  // PyTorch ignores these
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
