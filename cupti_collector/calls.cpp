#include "cupti_collector/calls.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace interlace::collector {

namespace {

/// So many numbers without a name in a row are the end of the table.
constexpr std::uint32_t kLongestGap = 64;

using Rule = std::pair<std::string_view, CallRole>;

/// The first rule whose text begins the name without "cuda" or "cu" tells the role.
constexpr std::array kRules{
    Rule{"LaunchHostFunc", CallRole::kOther},
    Rule{"LaunchAttribute", CallRole::kOther},
    Rule{"Launch", CallRole::kLaunch},
    Rule{"GraphLaunch", CallRole::kLaunch},
    Rule{"MemcpyToArray", CallRole::kCopy},
    Rule{"Memcpy", CallRole::kCopy},
    Rule{"MemsetD", CallRole::kCopy},
    Rule{"Memset", CallRole::kCopy},
    Rule{"EventRecord", CallRole::kEventRecord},
    Rule{"StreamWaitEvent", CallRole::kStreamWait},
    Rule{"EventSynchronize", CallRole::kSync},
    Rule{"StreamSynchronize", CallRole::kSync},
    Rule{"DeviceSynchronize", CallRole::kSync},
    Rule{"ThreadSynchronize", CallRole::kSync},
    Rule{"CtxSynchronize", CallRole::kSync},
    Rule{"EventQuery", CallRole::kQuery},
    Rule{"StreamQuery", CallRole::kQuery},
    Rule{"Malloc", CallRole::kMemory},
    Rule{"Free", CallRole::kMemory},
    Rule{"HostAlloc", CallRole::kMemory},
    Rule{"MemAlloc", CallRole::kMemory},
    Rule{"MemFree", CallRole::kMemory},
    Rule{"MemHostAlloc", CallRole::kMemory},
    Rule{"MemMap", CallRole::kMemory},
    Rule{"MemCreate", CallRole::kMemory},
    Rule{"EventCreate", CallRole::kChatty},
    Rule{"EventDestroy", CallRole::kChatty},
    Rule{"EventElapsedTime", CallRole::kChatty},
    Rule{"StreamIsCapturing", CallRole::kChatty},
    Rule{"StreamGet", CallRole::kChatty},
    Rule{"StreamBeginCapture", CallRole::kBeginCapture},
    Rule{"StreamEndCapture", CallRole::kEndCapture},
    Rule{"ThreadExchangeStreamCaptureMode", CallRole::kChatty},
    Rule{"GetLastError", CallRole::kChatty},
    Rule{"PeekAtLastError", CallRole::kChatty},
    Rule{"GetError", CallRole::kChatty},
    Rule{"GetDevice", CallRole::kChatty},
    Rule{"SetDevice", CallRole::kChatty},
    Rule{"DeviceGet", CallRole::kChatty},
    Rule{"DeviceCanAccessPeer", CallRole::kChatty},
    Rule{"DevicePrimaryCtxGetState", CallRole::kChatty},
    Rule{"CtxGet", CallRole::kChatty},
    Rule{"CtxSetCurrent", CallRole::kChatty},
    Rule{"CtxPushCurrent", CallRole::kChatty},
    Rule{"CtxPopCurrent", CallRole::kChatty},
    Rule{"FuncGet", CallRole::kChatty},
    Rule{"FuncSet", CallRole::kChatty},
    Rule{"KernelGet", CallRole::kChatty},
    Rule{"KernelSet", CallRole::kChatty},
    Rule{"GetFuncBySymbol", CallRole::kChatty},
    Rule{"GetKernel", CallRole::kChatty},
    Rule{"GetDriverEntryPoint", CallRole::kChatty},
    Rule{"GetProcAddress", CallRole::kChatty},
    Rule{"GetSymbol", CallRole::kChatty},
    Rule{"Occupancy", CallRole::kChatty},
    Rule{"PointerGetAttribute", CallRole::kChatty},
    Rule{"RuntimeGetVersion", CallRole::kChatty},
    Rule{"DriverGetVersion", CallRole::kChatty},
    Rule{"GetExportTable", CallRole::kChatty},
    Rule{"CreateChannelDesc", CallRole::kChatty},
    Rule{"ConfigureCall", CallRole::kChatty},
    Rule{"SetupArgument", CallRole::kChatty},
};

/// Whether the name goes on after the rule's text as another word in lower case: "Free" is no rule for "Freeze".
bool is_word_end(std::string_view name, std::size_t at) {
  return at == name.size() || std::islower(static_cast<unsigned char>(name[at])) == 0;
}

}  // namespace

std::string_view plain_call_name(std::string_view name) {
  // Names of CUDA functions hold no underscore: what follows one is a version or a kind of default stream.
  return name.substr(0, name.find('_'));
}

CallRole call_role(std::string_view plain_name) {
  if (plain_name.starts_with("cuda")) {
    plain_name.remove_prefix(4);
  } else if (plain_name.starts_with("cu")) {
    plain_name.remove_prefix(2);
  }
  for (const auto& [text, role] : kRules) {
    if (plain_name.starts_with(text) && (is_word_end(plain_name, text.size()) || role == CallRole::kChatty)) {
      return role;
    }
  }
  return CallRole::kOther;
}

CallTable::CallTable(const std::function<std::string(std::uint32_t)>& name_of) {
  calls_.emplace_back();  // number 0 is no function
  std::uint32_t gap = 0;
  for (std::uint32_t number = 1; gap < kLongestGap; ++number) {
    const std::string name = name_of(number);
    gap = name.empty() ? gap + 1 : 0;
    const std::string_view plain = plain_call_name(name);
    calls_.push_back({std::string(plain), call_role(plain)});
  }
  calls_.resize(calls_.size() - kLongestGap);
}

CallTable::Call CallTable::find(std::uint32_t number) const {
  if (number < calls_.size() && !calls_[number].name.empty()) return calls_[number];
  return {"CUDA call " + std::to_string(number), CallRole::kOther};
}

}  // namespace interlace::collector
