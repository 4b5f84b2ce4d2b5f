#include "simulator/check/release.hpp"

#include <algorithm>

namespace interlace::check {

ReleasePlan::FirstWaits ReleasePlan::first_waits(const Program& program) {
  FirstWaits waits;
  std::map<MarkIndex, OperationIndex> behind;
  OperationIndex newest;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    const bool of_collectives = instruction.lane == program.collectives();
    if (instruction.kind == Instruction::Kind::kRun && of_collectives) newest = instruction.operation;
    if (instruction.kind == Instruction::Kind::kMark && of_collectives) behind[instruction.mark] = newest;
    if (instruction.kind != Instruction::Kind::kWait || instruction.lane == Program::kHost) continue;
    const auto collective = behind.find(instruction.mark);
    if (collective != behind.end()) waits.try_emplace(collective->second, Release{i + 1, {}, instruction.iteration});
  }
  return waits;
}

ReleasePlan::Release ReleasePlan::release_of(const Program& program, BufferIndex index, const FirstWaits& waits) const {
  const Buffer& buffer = program.buffer(index);
  const OperationIndex last = std::ranges::max(buffer.uses);
  const auto last_run = std::ranges::upper_bound(runs_, last.index(), {}, &StageRun::operations);
  Release release{last_run->position, index, last_run->iteration};
  const auto keep_to = [&](std::size_t position, std::int64_t iteration) {
    if (position > release.position) release = {position, index, iteration};
  };
  for (const OperationIndex use : buffer.uses) {
    if (const auto wait = waits.find(use); wait != waits.end()) keep_to(wait->second.position, wait->second.iteration);
  }
  if (!buffer.maker) return release;
  const Operation& maker = program.operation(*buffer.maker);
  const auto& kept_until = program.stage(maker.stage).kept_until;
  if (!kept_until) return release;
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

std::vector<ReleasePlan::Release> ReleasePlan::all_releases(const Program& program, const FirstWaits& waits) const {
  std::vector<Release> releases = named_;
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (!buffer.freed_by && program.data[buffer.datum.index()].batch) {
      releases.push_back(release_of(program, {b}, waits));
    }
  }
  std::ranges::stable_sort(releases, {}, &Release::position);
  return releases;
}

void ReleasePlan::insert(Program& program) const {
  const FirstWaits waits = first_waits(program);
  const std::vector<Release> releases = all_releases(program, waits);
  for (Buffer& buffer : program.buffers) {
    // A storage that is freed by name is gone, whoever refers to it.
    if (buffer.freed_by) continue;
    std::erase_if(buffer.uses, [&](OperationIndex use) {
      return program.operation(use).lane == program.collectives() && !waits.contains(use);
    });
  }
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
