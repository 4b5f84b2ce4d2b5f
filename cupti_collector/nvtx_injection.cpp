// What NVTX calls where NVTX_INJECTION64_PATH names libinterlace_collector.so. Each library of a program that was built
// with NVTX 3 has a table of its own and hands it over with its first call; what they say goes to the process's
// session.
#include <array>
#include <atomic>
#include <bit>
#include <optional>
#include <string>
#include <string_view>

#include "cupti_collector/entry_points.hpp"
#include "cupti_collector/nvtx_interface.hpp"
#include "cupti_collector/process_session.hpp"
#include "simulator/trace/nvtx_domains.hpp"

namespace {

using namespace interlace::collector;  // the functions below are a part of it
using Kind = HostEvents::Kind;
using nvtx::EventAttributes;

/// What nvtxDomainCreate gives: numbers apart what libraries push and pop on the same thread.
struct Domain {
  std::uint32_t number = 0;
  bool is_of_library = false;
};

/// What nvtxDomainRegisterString gives.
struct RegisteredString {
  std::string text;
};

constexpr int kNoDepth = -2;  // NVTX_NO_PUSH_POP_TRACKING

std::string utf8(const wchar_t* wide) {
  std::string text;
  const auto put = [&](unsigned lead, std::uint32_t code, unsigned more) {
    text += static_cast<char>(lead | (code >> (6 * more)));
    while (more-- > 0) text += static_cast<char>(0x80U | ((code >> (6 * more)) & 0x3FU));
  };
  for (; wide != nullptr && *wide != 0; ++wide) {
    const auto code = static_cast<std::uint32_t>(*wide);
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      put(0xC0, code, 1);
    } else if (code < 0x10000) {
      put(0xE0, code, 2);
    } else {
      put(0xF0, code, 3);
    }
  }
  return text;
}

std::string_view view(const char* text) { return text == nullptr ? std::string_view() : std::string_view(text); }

using Extra = HostEvents::Extra;

void add(Kind kind, std::uint32_t number, const Domain& domain, std::string_view name,
         const std::optional<Extra>& extra = std::nullopt) noexcept {
  if (Session* session = session_for_events()) {
    session->add_event(
        {.kind = kind, .is_of_library = domain.is_of_library, .number = number, .name = name, .extra = extra});
  }
}

/// The category and the number that the attributes hold, where they hold one.
std::optional<Extra> extra_of(const EventAttributes& attributes, const Domain& domain) {
  using interlace::trace::NumberType;
  Extra extra{.domain = domain.number, .category = attributes.category};
  const auto set = [&](NumberType type, std::uint64_t bits) {
    extra.payload_type = type;
    extra.payload = bits;
    extra.has_payload = true;
  };
  const auto& payload = attributes.payload;
  switch (attributes.payload_type) {
    case nvtx::kPayloadUint64: set(NumberType::kUint64, payload.uint64); break;
    case nvtx::kPayloadUint32: set(NumberType::kUint64, payload.uint32); break;
    case nvtx::kPayloadInt64: set(NumberType::kInt64, payload.uint64); break;
    case nvtx::kPayloadInt32: set(NumberType::kInt64, static_cast<std::uint64_t>(std::int64_t{payload.int32})); break;
    case nvtx::kPayloadDouble: set(NumberType::kDouble, payload.uint64); break;
    case nvtx::kPayloadFloat: set(NumberType::kDouble, std::bit_cast<std::uint64_t>(double{payload.float32})); break;
    default: break;
  }
  return extra.has_payload || extra.category != 0 ? std::optional(extra) : std::nullopt;
}

/// With the name that the attributes hold.
void add(Kind kind, std::uint32_t number, const Domain& domain, const EventAttributes* attributes) {
  if (attributes == nullptr) return;
  const std::optional<Extra> extra = extra_of(*attributes, domain);
  switch (attributes->message_type) {
    case nvtx::kMessageAscii: return add(kind, number, domain, view(attributes->message.ascii), extra);
    case nvtx::kMessageWide: return add(kind, number, domain, utf8(attributes->message.wide), extra);
    case nvtx::kMessageRegistered: {
      const auto* known = static_cast<const RegisteredString*>(attributes->message.registered);
      return add(kind, number, domain, known == nullptr ? std::string_view() : std::string_view(known->text), extra);
    }
    default: return add(kind, number, domain, std::string_view(), extra);
  }
}

Domain of(const Domain* domain) { return domain == nullptr ? Domain() : *domain; }

// The default domain.

void mark_ex(const EventAttributes* attributes) { add(Kind::kMark, 0, {}, attributes); }
void mark_a(const char* name) { add(Kind::kMark, 0, {}, view(name)); }
void mark_w(const wchar_t* name) { add(Kind::kMark, 0, {}, utf8(name)); }

template <class Name>
std::uint64_t start(const Domain& domain, const Name& name) {
  const std::uint32_t range = HostEvents::next_range();
  add(Kind::kStart, range, domain, name);
  return range;
}
std::uint64_t range_start_ex(const EventAttributes* attributes) { return start({}, attributes); }
std::uint64_t range_start_a(const char* name) { return start({}, view(name)); }
std::uint64_t range_start_w(const wchar_t* name) { return start({}, std::string_view(utf8(name))); }
void range_end(std::uint64_t range) { add(Kind::kEnd, static_cast<std::uint32_t>(range), {}, std::string_view()); }

int range_push_ex(const EventAttributes* attributes) {
  add(Kind::kPush, 0, {}, attributes);
  return kNoDepth;
}
int range_push_a(const char* name) {
  add(Kind::kPush, 0, {}, view(name));
  return kNoDepth;
}
int range_push_w(const wchar_t* name) {
  add(Kind::kPush, 0, {}, utf8(name));
  return kNoDepth;
}
int range_pop() {
  add(Kind::kPop, 0, {}, std::string_view());
  return kNoDepth;
}
void name_thread_a(std::uint32_t thread, const char* name) { add(Kind::kNameThread, thread, {}, view(name)); }
void name_thread_w(std::uint32_t thread, const wchar_t* name) { add(Kind::kNameThread, thread, {}, utf8(name)); }

void name_category(const Domain& domain, std::uint32_t category, std::string_view name) {
  add(Kind::kNameCategory, domain.number, domain, name, Extra{.domain = domain.number, .category = category});
}
void name_category_a(std::uint32_t category, const char* name) { name_category({}, category, view(name)); }
void name_category_w(std::uint32_t category, const wchar_t* name) { name_category({}, category, utf8(name)); }

// Domains.

void domain_mark_ex(const Domain* domain, const EventAttributes* attributes) {
  add(Kind::kMark, of(domain).number, of(domain), attributes);
}
std::uint64_t domain_range_start_ex(const Domain* domain, const EventAttributes* attributes) {
  return start(of(domain), attributes);
}
void domain_range_end(const Domain*, std::uint64_t range) { range_end(range); }
int domain_range_push_ex(const Domain* domain, const EventAttributes* attributes) {
  add(Kind::kPush, of(domain).number, of(domain), attributes);
  return kNoDepth;
}
int domain_range_pop(const Domain* domain) {
  add(Kind::kPop, of(domain).number, of(domain), std::string_view());
  return kNoDepth;
}
void domain_name_category_a(const Domain* domain, std::uint32_t category, const char* name) {
  name_category(of(domain), category, view(name));
}
void domain_name_category_w(const Domain* domain, std::uint32_t category, const wchar_t* name) {
  name_category(of(domain), category, utf8(name));
}

/// Domains and strings live as long as the process: programs give few of them back, and may use one that they did.
const Domain* create_domain(std::string_view name) {
  static std::atomic<std::uint32_t> last{0};
  return new Domain{++last, interlace::trace::is_library_domain(name)};
}
const Domain* domain_create_a(const char* name) { return create_domain(view(name)); }
const Domain* domain_create_w(const wchar_t* name) { return create_domain(utf8(name)); }
const RegisteredString* domain_register_a(const Domain*, const char* text) {
  return new RegisteredString{std::string(view(text))};
}
const RegisteredString* domain_register_w(const Domain*, const wchar_t* text) {
  return new RegisteredString{utf8(text)};
}

// The payload extension. What its schemas describe is not read; ranges that end with a payload (NCCL's) end all the
// same.

struct PayloadData;
constexpr std::string_view kUnnamed = "[payload]";  // its name, if any, stands in the payload

void mark_payload(const Domain* domain, const PayloadData*, std::size_t) {
  add(Kind::kMark, of(domain).number, of(domain), kUnnamed);
}
int range_push_payload(const Domain* domain, const PayloadData*, std::size_t) {
  add(Kind::kPush, of(domain).number, of(domain), kUnnamed);
  return kNoDepth;
}
int range_pop_payload(const Domain* domain, const PayloadData*, std::size_t) { return domain_range_pop(domain); }
std::uint64_t range_start_payload(const Domain* domain, const PayloadData*, std::size_t) {
  return start(of(domain), kUnnamed);
}
void range_end_payload(const Domain*, std::uint64_t range, const PayloadData*, std::size_t) { range_end(range); }

template <class Own>
std::pair<unsigned, nvtx::Function> entry(unsigned number, Own own) {
  return {number, reinterpret_cast<nvtx::Function>(own)};
}

template <class Entries>
void put(const nvtx::CallbacksTable& callbacks, nvtx::Module module, const Entries& entries) {
  nvtx::FunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks.get_module_functions(module, &table, &size) == 0 || table == nullptr) return;  // it has no such module
  for (const auto& [number, function] : entries) {
    if (number < size && table[number] != nullptr) *table[number] = function;
  }
}

}  // namespace

extern "C" int InitializeInjectionNvtx2(const void* (*get_export_table)(std::uint32_t)) {
  if (session_for_events() == nullptr || get_export_table == nullptr) return 0;
  const auto* callbacks = static_cast<const nvtx::CallbacksTable*>(get_export_table(nvtx::kCallbacksTable));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(nvtx::CallbacksTable)) return 0;
  put(*callbacks, nvtx::Module::kCore,
      std::array{entry(nvtx::kMarkEx, mark_ex), entry(nvtx::kMarkA, mark_a), entry(nvtx::kMarkW, mark_w),
                 entry(nvtx::kRangeStartEx, range_start_ex), entry(nvtx::kRangeStartA, range_start_a),
                 entry(nvtx::kRangeStartW, range_start_w), entry(nvtx::kRangeEnd, range_end),
                 entry(nvtx::kRangePushEx, range_push_ex), entry(nvtx::kRangePushA, range_push_a),
                 entry(nvtx::kRangePushW, range_push_w), entry(nvtx::kRangePop, range_pop),
                 entry(nvtx::kNameCategoryA, name_category_a), entry(nvtx::kNameCategoryW, name_category_w),
                 entry(nvtx::kNameOsThreadA, name_thread_a), entry(nvtx::kNameOsThreadW, name_thread_w)});
  put(*callbacks, nvtx::Module::kCore2,
      std::array{entry(nvtx::kDomainMarkEx, domain_mark_ex), entry(nvtx::kDomainRangeStartEx, domain_range_start_ex),
                 entry(nvtx::kDomainRangeEnd, domain_range_end), entry(nvtx::kDomainRangePushEx, domain_range_push_ex),
                 entry(nvtx::kDomainRangePop, domain_range_pop),
                 entry(nvtx::kDomainNameCategoryA, domain_name_category_a),
                 entry(nvtx::kDomainNameCategoryW, domain_name_category_w),
                 entry(nvtx::kDomainRegisterStringA, domain_register_a),
                 entry(nvtx::kDomainRegisterStringW, domain_register_w), entry(nvtx::kDomainCreateA, domain_create_a),
                 entry(nvtx::kDomainCreateW, domain_create_w)});
  return 1;
}

/// After the above, once for each extension that a library of the program uses.
extern "C" int InitializeInjectionNvtxExtension(void* extension) {
  const auto* module = static_cast<const nvtx::ExtensionModule*>(extension);
  if (session_for_events() == nullptr || module == nullptr || module->module != nvtx::kPayloadExtension) return 0;
  if (module->segment_count == 0 || module->segments == nullptr) return 0;
  const nvtx::ExtensionSegment& segment = module->segments[0];
  for (const auto& [number, function] :
       {entry(nvtx::kMarkPayload, mark_payload), entry(nvtx::kRangePushPayload, range_push_payload),
        entry(nvtx::kRangePopPayload, range_pop_payload), entry(nvtx::kRangeStartPayload, range_start_payload),
        entry(nvtx::kRangeEndPayload, range_end_payload)}) {
    if (number < segment.size) segment.slots[number] = reinterpret_cast<std::intptr_t>(function);
  }
  return 1;
}
