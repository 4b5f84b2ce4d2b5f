#pragma once

#include <cstddef>
#include <cstdint>

/// What a tool sees of NVTX 3, declared after its public interface: the library that a program was built with hands a
/// table of function pointers over, and a tool puts its own functions into it. All of it is a stable binary interface.
namespace interlace::collector::nvtx {

using Function = void (*)();
/// Each entry leads to the place of a function pointer of the program's NVTX.
using FunctionTable = Function**;

enum class Module : int { kCore = 1, kCore2 = 5 };

enum CoreFunction : unsigned {
  kMarkEx = 1,
  kMarkA,
  kMarkW,
  kRangeStartEx,
  kRangeStartA,
  kRangeStartW,
  kRangeEnd,
  kRangePushEx,
  kRangePushA,
  kRangePushW,
  kRangePop,
  kNameCategoryA,
  kNameCategoryW,
  kNameOsThreadA,
  kNameOsThreadW,
};

enum Core2Function : unsigned {
  kDomainMarkEx = 1,
  kDomainRangeStartEx,
  kDomainRangeEnd,
  kDomainRangePushEx,
  kDomainRangePop,
  kDomainResourceCreate,
  kDomainResourceDestroy,
  kDomainNameCategoryA,
  kDomainNameCategoryW,
  kDomainRegisterStringA,
  kDomainRegisterStringW,
  kDomainCreateA,
  kDomainCreateW,
  kDomainDestroy,
  kInitialize,
};

inline constexpr std::uint32_t kCallbacksTable = 1;
struct CallbacksTable {
  std::size_t struct_size;
  /// 1 where the program's NVTX has the module, else 0. Valid numbers are below size.
  int (*get_module_functions)(Module module, FunctionTable* table, unsigned* size);
};
/// Gives the table of a number, or null.
using GetExportTable = const void* (*)(std::uint32_t table);

enum MessageType : std::int32_t { kMessageAscii = 1, kMessageWide = 2, kMessageRegistered = 3 };
/// kPayloadExtended: `reserved` payloads of registered schemas, where `payload` points to.
enum PayloadType : std::int32_t {
  kPayloadExtended = static_cast<std::int32_t>(0xDFBD0009),
  kPayloadUint64 = 1,
  kPayloadInt64,
  kPayloadDouble,
  kPayloadUint32,
  kPayloadInt32,
  kPayloadFloat
};

/// What a mark or range is called; a program may have been built with an NVTX that has fewer of the fields.
struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  union {
    std::uint64_t uint64;
    std::int64_t int64;
    double float64;
    std::uint32_t uint32;
    std::int32_t int32;
    float float32;
  } payload;
  std::int32_t message_type;
  union {
    const char* ascii;
    const wchar_t* wide;
    const void* registered;
  } message;
};
static_assert(sizeof(EventAttributes) == 48 && offsetof(EventAttributes, message) == 40);

/// NVTX's extensions hand their functions over one by one, after the modules above: a segment of slots, of which a tool
/// fills those that it wants.
inline constexpr std::uint16_t kPayloadExtension = 2;
struct ExtensionSegment {
  std::size_t id;
  std::size_t size;
  std::intptr_t* slots;
};
struct ExtensionModule {
  std::uint16_t nvtx_version;
  std::uint16_t struct_size;
  std::uint16_t module;
  std::uint16_t compatibility;
  std::size_t segment_count;
  ExtensionSegment* segments;
  std::intptr_t (*get_export_function)(std::uint32_t function);
  const void* info;
};

/// Slots of the payload extension: ranges and marks that carry, or end with, payloads of registered schemas.
enum PayloadFunction : std::size_t {
  kMarkPayload = 2,
  kRangePushPayload,
  kRangePopPayload,
  kRangeStartPayload,
  kRangeEndPayload,
};

}  // namespace interlace::collector::nvtx
