#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/runtime/device.hpp"

namespace interlace::engine {

/// What one kind of work took in all, on one rank. Kinds nest: a stage holds the collectives that it issues and the
/// host's waits in it, so the lines do not add up to the whole.
struct ProfileLine {
  std::string kind;  ///< "stage", "collective", "kernels" or "host"
  std::string name;  ///< without a batch
  std::int64_t count = 0;
  double host_seconds = 0.0;    ///< of the host, from begin to end
  double device_seconds = 0.0;  ///< of its stream, waits in it included; 0 where it has none

  bool operator==(const ProfileLine&) const = default;
};

/// Takes the time of pieces of work: the host's clock, and an event of the device at either end. It costs two events a
/// piece; nothing waits for them.
class Profile {
 public:
  using Clock = std::chrono::steady_clock;

  /// A piece of work of a stream, which begins now.
  [[nodiscard]] std::size_t begin(std::string kind, std::string name, Device& device, StreamId stream);
  void end(std::size_t piece, Device& device);
  /// What the host did by itself since `began`: waiting, or asking for memory.
  void add_host(const char* name, Clock::time_point began);

  /// Sums by kind and name, in the order of first use. The device must be through with all.
  [[nodiscard]] std::vector<ProfileLine> lines(const Device& device) const;

 private:
  struct Piece {
    std::string kind;
    std::string name;
    StreamId stream;
    Clock::time_point host_began;
    double host_seconds = 0.0;
    Event began;  ///< null: of the host alone
    Event ended;  ///< null: an exception has ended it
  };
  std::vector<Piece> pieces_;
};

/// A piece of work, where the device has a profile.
class Profiled {
 public:
  Profiled(Device& device, const char* kind, std::string name, StreamId stream)
      : device_(&device), profile_(device.profile()) {
    if (profile_ != nullptr) piece_ = profile_->begin(kind, std::move(name), device, stream);
  }
  Profiled(const Profiled&) = delete;
  Profiled& operator=(const Profiled&) = delete;
  Profiled(Profiled&&) = delete;
  Profiled& operator=(Profiled&&) = delete;
  /// Ends it. Not in the destructor: an exception must not ask a failed device for events.
  void end() {
    if (profile_ != nullptr) profile_->end(piece_, *device_);
  }
  ~Profiled() = default;

 private:
  Device* device_;
  Profile* profile_;
  std::size_t piece_ = 0;
};

}  // namespace interlace::engine
