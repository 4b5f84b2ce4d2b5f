#pragma once

#include <array>
#include <cstdint>

#include "cupti_collector/nvtx_interface.hpp"

namespace interlace::testing {

/// A library of a program that was built with NVTX 3: with its first call it loads the tool that NVTX_INJECTION64_PATH
/// names and hands its table over, as NVTX's own header does; without a tool its calls do nothing.
class FakeNvtx {
 public:
  FakeNvtx();

  void mark(const char* name) const;
  void mark_wide(const wchar_t* name) const;
  void push(const char* name) const;
  void pop() const;
  [[nodiscard]] std::uint64_t start(const char* name) const;
  void end(std::uint64_t range) const;
  void name_thread(std::uint32_t thread, const char* name) const;

  [[nodiscard]] const void* create_domain(const char* name) const;
  [[nodiscard]] const void* register_string(const void* domain, const char* text) const;
  void push(const void* domain, const void* registered) const;
  void push(const void* domain, const char* name) const;
  void pop(const void* domain) const;
  void name_category(const void* domain, std::uint32_t category, const char* name) const;
  /// With a number and a category; of the default domain where there is none.
  void push(const void* domain, const char* name, std::uint32_t category,
            const collector::nvtx::EventAttributes& number) const;
  void mark(const char* name, std::uint32_t category, const collector::nvtx::EventAttributes& number) const;
  /// Ends a range with a payload of a registered schema, as NCCL does: a function of an extension.
  void pop_with_payload(const void* domain) const;

  [[nodiscard]] bool is_attached() const { return is_attached_; }

 private:
  static constexpr std::size_t kFunctions = 16;  ///< of each module, with the unused number 0
  struct Module {
    std::array<collector::nvtx::Function, kFunctions> functions{};
    std::array<collector::nvtx::Function*, kFunctions> places{};
  };
  static Module& module_of(collector::nvtx::Module module);
  static const void* export_table(std::uint32_t number);
  static std::array<std::intptr_t, kFunctions>& extension_slots();

  template <class Result, class... Arguments>
  Result call(collector::nvtx::Module module, unsigned function, Arguments... arguments) const;

  bool is_attached_ = false;
};

}  // namespace interlace::testing
