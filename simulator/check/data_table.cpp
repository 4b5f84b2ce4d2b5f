#include "simulator/check/data_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace interlace::check {

DatumIndex DataTable::intern(const Datum& datum) {
  const auto [found, added] = known_.try_emplace(datum, DatumIndex{static_cast<std::uint32_t>(program_->data.size())});
  if (added) program_->data.push_back(datum);
  return found->second;
}

std::vector<DatumIndex> DataTable::data_of(const Touched& touched, std::int64_t batch,
                                           std::optional<std::uint32_t> module) {
  Datum datum{.resource = touched.resource, .name = touched.name, .batch = batch, .module = {}, .on_host = false};
  if (!touched.resource) return {intern(datum)};
  const schedule::ResourceTraits& traits = schedule::traits_of(*touched.resource);
  if (!traits.per_batch) datum.batch.reset();
  datum.on_host = *touched.resource == schedule::Resource::kHostBatch;
  if (!traits.per_module) return {intern(datum)};
  std::vector<DatumIndex> data;
  for (std::uint32_t m = 0; m < program_->modules.size(); ++m) {
    if (module && *module != m) continue;
    datum.module = m;
    data.push_back(intern(datum));
  }
  return data;
}

DatumIndex DataTable::host_copy(StageIndex stage, std::int64_t batch) {
  return intern({.resource = {},
                 .name = fmt::format("copy of validate_output #{}", stage.value),
                 .batch = batch,
                 .module = {},
                 .on_host = true});
}

BufferIndex DataTable::new_buffer(DatumIndex datum, std::optional<OperationIndex> maker, LaneIndex pool) {
  const BufferIndex index{static_cast<std::uint32_t>(program_->buffers.size())};
  program_->buffers.push_back({.datum = datum,
                               .maker = maker,
                               .pool = pool,
                               .recorded = {},
                               .uses = {},
                               .marks = {},
                               .freed_by = {},
                               .freed_at = {}});
  held_[datum] = index;
  freed_.erase(datum);
  return index;
}

void DataTable::read(DatumIndex datum, OperationIndex operation) {
  if (const auto freed = freed_.find(datum); freed != freed_.end()) {
    program_->reads_after_free.push_back({operation, freed->second});
    return;
  }
  auto held = held_.find(datum);
  if (held == held_.end()) {
    // Only what lives through the training is there without a maker: taken by the model, on its own stream.
    new_buffer(datum, std::nullopt, program_->main);
    held = held_.find(datum);
  }
  auto& uses = program_->buffers[held->second.index()].uses;
  if (uses.empty() || uses.back() != operation) uses.push_back(operation);
}

void DataTable::write(DatumIndex datum, OperationIndex operation, const std::vector<LaneIndex>& recorded) {
  const Operation& op = program_->operation(operation);
  const auto held = held_.find(datum);
  bool anew = freed_.contains(datum);
  if (program_->data[datum.index()].batch) {
    // The operations of one run of a stage share the memory of its results.
    const auto same_run = [&](const Operation& maker) {
      return maker.stage == op.stage && maker.iteration == op.iteration;
    };
    const bool shared = held != held_.end() && program_->buffer(held->second).maker &&
                        same_run(program_->operation(*program_->buffer(held->second).maker));
    anew = anew || !shared;
  }
  if (!anew) {
    read(datum, operation);
    return;
  }
  Buffer& buffer = program_->buffers[new_buffer(datum, operation, op.pool.value_or(op.lane)).index()];
  buffer.recorded = recorded;
  buffer.uses.push_back(operation);
}

void DataTable::enter(OperationIndex operation, const std::vector<LaneIndex>& recorded) {
  for (const Access& access : program_->operation(operation).accesses) {
    if (program_->data[access.datum.index()].on_host) continue;
    if (access.writes) {
      write(access.datum, operation, recorded);
    } else {
      read(access.datum, operation);
    }
  }
}

std::optional<BufferIndex> DataTable::free(DatumIndex datum) {
  const auto held = held_.find(datum);
  if (held == held_.end()) return std::nullopt;
  const BufferIndex buffer = held->second;
  held_.erase(held);
  freed_[datum] = buffer;
  return buffer;
}

}  // namespace interlace::check
