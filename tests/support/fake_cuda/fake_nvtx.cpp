#include "tests/support/fake_cuda/fake_nvtx.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace interlace::testing {

using namespace collector::nvtx;  // what is played here

FakeNvtx::Module& FakeNvtx::module_of(collector::nvtx::Module module) {
  static Module core;
  static Module core2;
  Module& one = module == collector::nvtx::Module::kCore ? core : core2;
  for (std::size_t i = 1; i < kFunctions; ++i) one.places[i] = &one.functions[i];
  return one;
}

const void* FakeNvtx::export_table(std::uint32_t number) {
  static const CallbacksTable callbacks{
      sizeof(CallbacksTable), [](collector::nvtx::Module module, FunctionTable* table, unsigned* size) {
        if (module != collector::nvtx::Module::kCore && module != collector::nvtx::Module::kCore2) return 0;
        *table = module_of(module).places.data();
        *size = kFunctions;
        return 1;
      }};
  return number == kCallbacksTable ? &callbacks : nullptr;
}

FakeNvtx::FakeNvtx() {
  const char* library = std::getenv("NVTX_INJECTION64_PATH");
  void* handle = library == nullptr ? nullptr : dlopen(library, RTLD_LAZY);
  if (handle == nullptr) return;
  auto* initialize = reinterpret_cast<int (*)(GetExportTable)>(dlsym(handle, "InitializeInjectionNvtx2"));
  is_attached_ = initialize != nullptr && initialize(export_table) != 0;
  auto* extend = reinterpret_cast<int (*)(void*)>(dlsym(handle, "InitializeInjectionNvtxExtension"));
  if (extend == nullptr) return;
  ExtensionSegment segment{0, kFunctions, extension_slots().data()};
  ExtensionModule module{3, sizeof(ExtensionModule), kPayloadExtension, 0x0104, 1, &segment, nullptr, nullptr};
  extend(&module);
}

std::array<std::intptr_t, FakeNvtx::kFunctions>& FakeNvtx::extension_slots() {
  static std::array<std::intptr_t, kFunctions> slots{};
  return slots;
}

template <class Result, class... Arguments>
Result FakeNvtx::call(collector::nvtx::Module module, unsigned function, Arguments... arguments) const {
  const Function place = module_of(module).functions[function];
  if (place == nullptr) return Result();
  return reinterpret_cast<Result (*)(Arguments...)>(place)(arguments...);
}

namespace {

constexpr auto kCore = collector::nvtx::Module::kCore;
constexpr auto kCore2 = collector::nvtx::Module::kCore2;

EventAttributes attributes_of(MessageType type) {
  EventAttributes attributes{};
  attributes.version = 3;
  attributes.size = sizeof(attributes);
  attributes.message_type = type;
  return attributes;
}

}  // namespace

void FakeNvtx::mark(const char* name) const { call<void>(kCore, kMarkA, name); }
void FakeNvtx::mark_wide(const wchar_t* name) const { call<void>(kCore, kMarkW, name); }
void FakeNvtx::push(const char* name) const { call<int>(kCore, kRangePushA, name); }
void FakeNvtx::pop() const { call<int>(kCore, kRangePop); }
std::uint64_t FakeNvtx::start(const char* name) const { return call<std::uint64_t>(kCore, kRangeStartA, name); }
void FakeNvtx::end(std::uint64_t range) const { call<void>(kCore, kRangeEnd, range); }
void FakeNvtx::name_thread(std::uint32_t thread, const char* name) const {
  call<void>(kCore, kNameOsThreadA, thread, name);
}
const void* FakeNvtx::create_domain(const char* name) const { return call<const void*>(kCore2, kDomainCreateA, name); }
const void* FakeNvtx::register_string(const void* domain, const char* text) const {
  return call<const void*>(kCore2, kDomainRegisterStringA, domain, text);
}
void FakeNvtx::push(const void* domain, const void* registered) const {
  EventAttributes attributes = attributes_of(kMessageRegistered);
  attributes.message.registered = registered;
  call<int>(kCore2, kDomainRangePushEx, domain, static_cast<const EventAttributes*>(&attributes));
}
void FakeNvtx::push(const void* domain, const char* name) const {
  EventAttributes attributes = attributes_of(kMessageAscii);
  attributes.message.ascii = name;
  call<int>(kCore2, kDomainRangePushEx, domain, static_cast<const EventAttributes*>(&attributes));
}
void FakeNvtx::pop(const void* domain) const { call<int>(kCore2, kDomainRangePop, domain); }
void FakeNvtx::name_category(const void* domain, std::uint32_t category, const char* name) const {
  call<void>(kCore2, kDomainNameCategoryA, domain, category, name);
}
void FakeNvtx::push(const void* domain, const char* name, std::uint32_t category, const EventAttributes& number) const {
  EventAttributes attributes = attributes_of(kMessageAscii);
  attributes.message.ascii = name;
  attributes.category = category;
  attributes.payload_type = number.payload_type;
  attributes.payload = number.payload;
  call<int>(kCore2, kDomainRangePushEx, domain, static_cast<const EventAttributes*>(&attributes));
}
void FakeNvtx::mark(const char* name, std::uint32_t category, const EventAttributes& number) const {
  EventAttributes attributes = attributes_of(kMessageAscii);
  attributes.message.ascii = name;
  attributes.category = category;
  attributes.payload_type = number.payload_type;
  attributes.payload = number.payload;
  call<void>(kCore, kMarkEx, static_cast<const EventAttributes*>(&attributes));
}
void FakeNvtx::pop_with_payload(const void* domain) const {
  const std::intptr_t slot = extension_slots()[kRangePopPayload];
  // NOLINTNEXTLINE(performance-no-int-to-ptr): NVTX's table holds numbers
  if (slot != 0) reinterpret_cast<int (*)(const void*, const void*, std::size_t)>(slot)(domain, nullptr, 0);
}

}  // namespace interlace::testing
