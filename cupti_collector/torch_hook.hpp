#pragma once

#include <cstdint>
#include <string>

namespace interlace::collector {

/// A library that listens to LibTorch, from beside this one.
class TorchHook {
 public:
  enum class Presence : std::uint8_t { kNone, kLoaded, kRefused };

  /// torch: the library of LibTorch that it listens to, by soname; file: its own name.
  TorchHook(const char* torch, const char* file) : torch_(torch), file_(file) {}

  /// Loads it where the program has that library now; for good, since what it listens to leads to it.
  Presence look();
  /// Why it was refused.
  [[nodiscard]] const std::string& why() const { return why_; }
  /// One of its functions; null where it has none of that name.
  template <class Function>
  [[nodiscard]] Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  [[nodiscard]] void* symbol(const char* name) const;

  const char* torch_;
  const char* file_;
  void* library_ = nullptr;
  std::string why_;
};

}  // namespace interlace::collector
