// libinterlace_torch_ranges.so: what libinterlace_collector.so loads where the program has LibTorch.
#include <ATen/record_function.h>

#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "cupti_collector/torch_hooks/loaded_torch.hpp"
#include "cupti_collector/torch_hooks/ranges_interface.hpp"

namespace interlace::collector::hook {

namespace {

/// Set before PyTorch is told of the callbacks.
RangeListener& the_listener() {
  static RangeListener listener;
  return listener;
}

/// A range that the program names may end in another thread, and need not nest.
struct NumberedRange final : at::ObserverContext {
  explicit NumberedRange(std::uint32_t given) : number(given) {}
  std::uint32_t number;
};

/// The others, four fifths of all, do not tell which work of a backward is whose.
bool tells_of_backward(const at::RecordFunction& range) {
  // What autograd's engine does for a node, its accumulation of gradients too, which has no number.
  constexpr std::string_view kNode = "autograd::engine::evaluate_function";
  return range.seqNr() >= 0 || std::strncmp(range.name(), kNode.data(), kNode.size()) == 0;
}

std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction& range) {
  const RangeListener& listener = the_listener();
  if (range.scope() == at::RecordScope::USER_SCOPE) {
    return std::make_unique<NumberedRange>(listener.begin(range.name()));
  }
  if (tells_of_backward(range)) listener.begin_operator(range.name(), range.seqNr(), range.forwardThreadId());
  return nullptr;
}

void on_end(const at::RecordFunction& range, at::ObserverContext* context) {
  const RangeListener& listener = the_listener();
  if (context != nullptr) {
    listener.end(static_cast<const NumberedRange*>(context)->number);
  } else if (range.scope() != at::RecordScope::USER_SCOPE && tells_of_backward(range)) {
    listener.end_operator();
  }
}

}  // namespace

extern "C" {

bool interlace_torch_ranges_attach(const RangeListener& listener, Operators operators, char* why,
                                   std::size_t why_bytes) noexcept {
  try {
    const std::string misfit = misfit_of("libtorch_cpu.so");
    if (!misfit.empty()) {
      say(why, why_bytes, misfit);
      return false;
    }
    the_listener() = listener;
    std::unordered_set<at::RecordScope> scopes{at::RecordScope::USER_SCOPE};
    if (operators == Operators::kOfAutograd) {
      scopes.insert(at::RecordScope::FUNCTION);
      scopes.insert(at::RecordScope::BACKWARD_FUNCTION);
    }
    at::addGlobalCallback(at::RecordFunctionCallback(on_begin, on_end).scopes(scopes));
    return true;
  } catch (const std::exception& error) {
    say(why, why_bytes, error.what());
  }
  return false;
}
}

}  // namespace interlace::collector::hook
