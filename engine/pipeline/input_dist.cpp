// The jagged features of the sharded modules, from the ranks of the samples to the ranks of the tables: each rank sorts
// its ids by the shard that needs them, tells every rank how many it will get (splits), and sends lengths, ids and
// weights.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "engine/pipeline/trainer.hpp"
#include "engine/runtime/transfer.hpp"

namespace interlace::engine {

namespace {

std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

std::size_t sum(const std::vector<std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

}  // namespace

StageOutcome Trainer::input_dist_start(const StageCall& call) {
  std::vector<CountedIds> counted;
  std::vector<HostCopy<std::int64_t>> reports;
  for (const std::size_t module : call.modules) {
    const PartRange range = part_of(module, part::kPermute);
    counted.push_back(count_ids(call, module));
    reports.emplace_back(tools_.device, call.stream, counted.back().report, 0, counted.back().report.size());
  }
  for (std::size_t i = 0; i < call.modules.size(); ++i) {
    const PartRange range = part_of(call.modules[i], part::kPermute);
    spread_ids(call, call.modules[i], counted[i], reports[i].read().span());
  }
  send_splits(call);
  return {};
}

// How many ids go to each rank, and whether all are in range.
Trainer::CountedIds Trainer::count_ids(const StageCall& call, std::size_t module) {
  BatchContext& context = this->context(call.batch);
  const JaggedFeatures& features = context.batch.modules[module];
  ModuleWork& work = context.modules[module];
  const ShardedModule& sharded = *model_->modules()[module];
  work.send_lengths = result<std::int32_t>(call, sharded.slots().size() * samples());
  CountedIds counted{
      .offsets = tools_.device.buffer<std::int64_t>(features.lengths.size() + 1, call.stream),
      .report = tools_.device.buffer<std::int64_t>(ranks() + kReportExtra, call.stream),
  };
  const InputCount count{.slots = sharded.slots(),
                         .batch = workload_->batch,
                         .input = {.offsets = counted.offsets.span(), .ids = features.ids.span(), .weights = {}},
                         .lengths = work.send_lengths.span(),
                         .report = counted.report.span()};
  launch("count ids", call.stream,
         [count, lengths = std::span<const std::int32_t>(features.lengths.span()), offsets = counted.offsets.span()](
             const EmbeddingKernels& kernels, NativeStream on) {
           kernels.sum_lengths(on, lengths, offsets);
           kernels.count(on, count);
         });
  return counted;
}

void Trainer::spread_ids(const StageCall& call, std::size_t module, const CountedIds& counted,
                         std::span<const std::int64_t> report) {
  BatchContext& context = this->context(call.batch);
  ModuleWork& work = context.modules[module];
  const ShardedModule& sharded = *model_->modules()[module];
  const auto bad = report.last(kReportExtra);
  if (bad[0] > 0) {
    const TableSpec& table = sharded.spec().tables[index(bad[0] - 1)];
    throw Error(kIdOutOfRange, "",
                "module \"" + sharded.name() + "\", feature " + std::to_string(bad[0] - 1) + " holds the id " +
                    std::to_string(bad[1]) + ", its table has " + std::to_string(table.rows) + " rows",
                "ids must be at least 0 and below the rows of their table");
  }
  work.send_counts.clear();
  for (const std::int64_t count : report.first(ranks())) {
    if (count < 0) throw Error(kDamagedInput, "", "a negative number of ids", "check the waits of the schedule");
    work.send_counts.push_back(index(count));
  }
  work.send_begins = aligned_begins(work.send_counts);
  std::vector<std::int64_t> shifts;
  std::size_t before = 0;
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    shifts.push_back(static_cast<std::int64_t>(work.send_begins[rank] - before));
    before += work.send_counts[rank];
  }
  const Buffer<std::int64_t> shifts_there = to_device(tools_.device, call.stream, shifts);
  const JaggedFeatures& features = context.batch.modules[module];
  work.send_ids = result<std::int64_t>(call, work.send_begins.back());
  if (sharded.spec().weighted) work.send_weights = result<float>(call, work.send_ids.size());
  const Buffer<std::int64_t> offsets = tools_.device.buffer<std::int64_t>(work.send_lengths.size() + 1, call.stream);
  const InputSpread spread{
      .slots = sharded.slots(),
      .batch = workload_->batch,
      .input = {.offsets = counted.offsets.span(), .ids = features.ids.span(), .weights = features.weights.span()},
      .offsets = offsets.span(),
      .shifts = shifts_there.span(),
      .ids = work.send_ids.span(),
      .weights = work.send_weights.span()};
  launch("spread ids", call.stream,
         [spread, lengths = std::span<const std::int32_t>(work.send_lengths.span()), sums = offsets.span()](
             const EmbeddingKernels& kernels, NativeStream on) {
           kernels.sum_lengths(on, lengths, sums);
           kernels.spread(on, spread);
         });
}

// One message for all modules of the stage.
void Trainer::send_splits(const StageCall& call) {
  const PartRange range = part_of_all(call.modules, part::kExchange);
  BatchContext& context = this->context(call.batch);
  const auto splits = std::make_shared<SplitsExchange>();
  splits->modules = call.modules;
  splits->order_hash = tools_.communicator.order_hash();
  std::vector<std::int64_t> message;
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    message.push_back(static_cast<std::int64_t>(splits->order_hash));
    for (const std::size_t module : call.modules) {
      message.push_back(static_cast<std::int64_t>(context.modules[module].send_counts[rank]));
    }
  }
  const Buffer<std::int64_t> send = to_device(tools_.device, call.stream, message);
  splits->received = result<std::int64_t>(call, message.size());
  const std::vector<std::size_t> counts(ranks(), 1 + call.modules.size());
  splits->arrival = tools_.communicator.all_to_all<std::int64_t>("input splits", call.stream, {send, counts},
                                                                 {splits->received, counts});
  for (const std::size_t module : call.modules) context.modules[module].splits = splits;
}

StageOutcome Trainer::input_dist_wait(const StageCall& call) {
  for (const std::size_t module : call.modules) {
    SplitsExchange& splits = *context(call.batch).modules[module].splits;
    if (!splits.read.allocated()) read_splits(call, splits);
  }
  for (const std::size_t module : call.modules) send_inputs(call, module);
  return {};
}

void Trainer::read_splits(const StageCall& call, SplitsExchange& splits) {
  const PartRange range = part_of_all(splits.modules, part::kSplits);
  splits.arrival.wait(call.stream);
  splits.read = HostCopy<std::int64_t>(tools_.device, call.stream, splits.received, 0, splits.received.size()).read();
  const std::size_t stride = 1 + splits.modules.size();
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    if (splits.read.span()[rank * stride] == static_cast<std::int64_t>(splits.order_hash)) continue;
    throw Error(kCollectiveOrder, "",
                "rank " + std::to_string(rank) + " has issued other collectives, or the same in another order",
                "let all ranks run the same schedule over the same number of batches");
  }
}

void Trainer::send_inputs(const StageCall& call, std::size_t module) {
  const PartRange range = part_of(module, part::kTensors);
  ModuleWork& work = context(call.batch).modules[module];
  const ShardedModule& sharded = *model_->modules()[module];
  const SplitsExchange& splits = *work.splits;
  const auto position = std::ranges::find(splits.modules, module) - splits.modules.begin();
  std::vector<std::size_t> send_bags;
  work.receive_counts.clear();
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    send_bags.push_back(sharded.plan().shards_of(static_cast<int>(rank)).size() * samples());
    const std::int64_t ids = splits.read.span()[rank * (1 + splits.modules.size()) + 1 + index(position)];
    if (ids < 0) throw Error(kDamagedInput, "", "a negative number of ids", "check the waits of the schedule");
    work.receive_counts.push_back(index(ids));
  }
  work.receive_begins = aligned_begins(work.receive_counts);
  const std::vector<std::size_t> receive_bags(ranks(), sharded.shards().size() * samples());
  work.received.lengths = result<std::int32_t>(call, sum(receive_bags));
  work.received.ids = result<std::int64_t>(call, work.receive_begins.back());
  Communicator& communicator = tools_.communicator;
  work.arrivals.push_back(communicator.all_to_all<std::int32_t>("input lengths of " + sharded.name(), call.stream,
                                                                {work.send_lengths, send_bags},
                                                                {work.received.lengths, receive_bags}));
  work.arrivals.push_back(communicator.all_to_all<std::int64_t>(
      "input ids of " + sharded.name(), call.stream, {work.send_ids, work.send_counts, work.send_begins},
      {work.received.ids, work.receive_counts, work.receive_begins}));
  if (!sharded.spec().weighted) return;
  work.received.weights = result<float>(call, work.receive_begins.back());
  work.arrivals.push_back(communicator.all_to_all<float>(
      "input weights of " + sharded.name(), call.stream, {work.send_weights, work.send_counts, work.send_begins},
      {work.received.weights, work.receive_counts, work.receive_begins}));
}

// Without the gaps between the ranks' parts. Parts of other lengths have gaps in nearly every batch.
template <class T>
Buffer<T> Trainer::closed_up(const StageCall& call, const ModuleWork& work, const Buffer<T>& parts) {
  const std::size_t count = sum(work.receive_counts);
  if (parts.size() == count) {
    keep(call, parts);
    return parts;
  }
  if (!parts.allocated()) return {};
  const Buffer<T> whole = result<T>(call, count);
  std::size_t next = 0;
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    tools_.device.copy(call.stream, whole.data() + next, parts.data() + work.receive_begins[rank],
                       work.receive_counts[rank] * sizeof(T));
    next += work.receive_counts[rank];
  }
  return whole;
}

StageOutcome Trainer::input_dist_finish(const StageCall& call) {
  std::vector<HostCopy<std::int64_t>> totals;
  for (const std::size_t module : call.modules) {
    const PartRange range = part_of(module);
    ModuleWork& work = context(call.batch).modules[module];
    for (const Awaitable& arrival : work.arrivals) arrival.wait(call.stream);
    work.ids = closed_up(call, work, work.received.ids);
    work.weights = closed_up(call, work, work.received.weights);
    work.offsets = result<std::int64_t>(call, work.received.lengths.size() + 1);
    launch(call.stream,
           [lengths = std::span<const std::int32_t>(work.received.lengths.span()), offsets = work.offsets.span()](
               const EmbeddingKernels& kernels, NativeStream on) { kernels.sum_lengths(on, lengths, offsets); });
    totals.emplace_back(tools_.device, call.stream, work.offsets, work.received.lengths.size(), 1);
  }
  for (std::size_t i = 0; i < call.modules.size(); ++i) {
    const PartRange range = part_of(call.modules[i]);
    const std::size_t ids = context(call.batch).modules[call.modules[i]].ids.size();
    const std::int64_t total = totals[i].read().span()[0];
    if (index(total) == ids) continue;
    throw Error(kDamagedInput, "",
                "module \"" + model_->modules()[call.modules[i]]->name() + "\": " + std::to_string(ids) +
                    " ids came with lengths that sum to " + std::to_string(total),
                "check the waits of the schedule");
  }
  return {};
}

}  // namespace interlace::engine
