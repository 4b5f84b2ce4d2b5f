// Stages that stand for work of other kinds: matrix products, and an all-to-all of a message whose every part names its
// sender, receiver and batch, so that a reader can tell whether it has arrived.
#include <string>
#include <utility>

#include "engine/pipeline/part_value.hpp"
#include "engine/pipeline/trainer.hpp"
#include "engine/runtime/transfer.hpp"

namespace interlace::engine {

namespace {

constexpr std::size_t kSamplesOfPart = 2;  // its first and its last value

// Of the pinned memory for what compute reads: to pin as it goes would hold up the device in timed steps.
constexpr std::size_t kReadsAtOnce = std::size_t{1} << 16U;

}  // namespace

StageOutcome Trainer::compute(const StageCall& call) {
  const MessageSpec& spec = *workload_->message;
  const auto cells = static_cast<std::size_t>(spec.matrix * spec.matrix);
  while (matrices_.size() < 3) {
    matrices_.push_back(tools_.device.buffer<float>(cells, call.stream));
    launch(call.stream, [matrix = matrices_.back().span()](const EmbeddingKernels& kernels, NativeStream on) {
      kernels.fill(on, matrix, 0.0F);
    });
  }
  tools_.device.launch(call.stream, [where = tools_.where, spec, a = matrices_[0].data(), b = matrices_[1].data(),
                                     product = matrices_[2].data()](NativeStream) {
    for (std::int64_t i = 0; i < spec.multiplications; ++i) multiply(where, spec.matrix, a, b, product);
  });
  for (const std::string& name : call.step->reads) read_in_compute(call, message_named(call.batch, name));
  for (const std::string& name : call.step->writes) {
    Message& message = context(call.batch).named[name];
    message = {.values = result<float>(call, static_cast<std::size_t>(spec.elements)), .received = false};
    const std::size_t part = message.values.size() / ranks();
    const auto from = static_cast<std::size_t>(tools_.communicator.rank());
    launch(call.stream, [values = message.values.span(), part, from, batch = call.batch, ranks = ranks()](
                            const EmbeddingKernels& kernels, NativeStream on) {
      for (std::size_t to = 0; to < ranks; ++to) {
        kernels.fill(on, values.subspan(to * part, part), part_value(batch, from, to, ranks));
      }
    });
  }
  return {};
}

// The last value to arrive, copied out in the order of the stream and looked at when all is over.
void Trainer::read_in_compute(const StageCall& call, const Message& message) {
  const std::size_t place = computed_from_.size() % kReadsAtOnce;
  if (place == 0) read_values_.push_back(tools_.device.host_buffer<float>(kReadsAtOnce));
  const Buffer<float>& values = read_values_.back();
  values.used_on(call.stream);
  const std::size_t last = message.values.size() / ranks() * ranks() - 1;
  float* value = values.data() + place;
  tools_.device.copy(call.stream, value, message.values.data() + last, sizeof(float));
  computed_from_.push_back({call.batch, message.received, value});
}

Message& Trainer::message_named(std::int64_t batch, const std::string& name) {
  std::map<std::string, Message>& named = context(batch).named;
  const auto found = named.find(name);
  if (found != named.end()) return found->second;
  throw Error(kUnsupportedStage, "", "\"" + name + "\" is no message", "let compute or all_to_all make it");
}

StageOutcome Trainer::all_to_all(const StageCall& call) {
  if (call.step->reads.size() != 1 || call.step->writes.size() != 1) {
    throw Error(kUnsupportedStage, "", "all_to_all must read one name and write one", "name them in reads and writes");
  }
  const Message sent = message_named(call.batch, call.step->reads.front());
  Message& received = context(call.batch).named[call.step->writes.front()];
  received = {.values = result<float>(call, sent.values.size()), .received = true};
  const std::vector<std::size_t> parts(ranks(), sent.values.size() / ranks());
  const Awaitable arrival =
      tools_.communicator.all_to_all<float>("message", call.stream, {sent.values, parts}, {received.values, parts});
  if (!call.step->async) arrival.wait(call.stream);
  return {.collective = arrival, .on_host_wait = {}};
}

StageOutcome Trainer::validate_output(const StageCall& call) {
  if (call.step->reads.size() != 1) {
    throw Error(kUnsupportedStage, "", "validate_output must read one name", "name it in reads");
  }
  const Message& message = message_named(call.batch, call.step->reads.front());
  const std::size_t part = message.values.size() / ranks();
  const Buffer<float> samples = tools_.device.host_buffer<float>(ranks() * kSamplesOfPart);
  samples.used_on(call.stream);
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    const float* first = message.values.data() + rank * part;
    tools_.device.copy(call.stream, samples.data() + rank * kSamplesOfPart, first, sizeof(float));
    tools_.device.copy(call.stream, samples.data() + rank * kSamplesOfPart + 1, first + part - 1, sizeof(float));
  }
  const schedule::ValidateMode mode = *call.step->mode;
  const auto check = [this, batch = call.batch, mode, received = message.received, samples] {
    check_message(batch, std::string(to_string(mode)), received, samples.span());
  };
  if (mode == schedule::ValidateMode::kEvent) return {.collective = {}, .on_host_wait = check};
  if (mode == schedule::ValidateMode::kBlocking) tools_.device.host_wait(tools_.device.record(call.stream));
  check();
  return {};
}

float Trainer::expected_value(std::int64_t batch, bool received, std::size_t part) const {
  const auto here = static_cast<std::size_t>(tools_.communicator.rank());
  return received ? part_value(batch, part, here, ranks()) : part_value(batch, here, part, ranks());
}

void Trainer::check_message(std::int64_t batch, std::string mode, bool received, std::span<const float> samples) {
  bool passed = true;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    passed = passed && samples[i] == expected_value(batch, received, i / kSamplesOfPart);
  }
  validations_.push_back({batch, std::move(mode), passed});
}

std::vector<Validation> Trainer::validations() const {
  std::vector<Validation> all = validations_;
  for (const ComputedFrom& seen : computed_from_) {
    const bool passed = *seen.value == expected_value(seen.batch, seen.received, ranks() - 1);
    all.push_back({seen.batch, std::string(to_string(schedule::Stage::kCompute)), passed});
  }
  return all;
}

}  // namespace interlace::engine
