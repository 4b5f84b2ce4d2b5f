#include <fmt/format.h>

#include "simulator/what_if/edit.hpp"

namespace interlace::what_if {

namespace {

std::string_view plural_of(replay::WorkKind kind) {
  switch (kind) {
    case replay::WorkKind::kKernel: return "kernels";
    case replay::WorkKind::kCollective: return "collectives";
    case replay::WorkKind::kHostCopy: return "copies from and to the host";
    case replay::WorkKind::kDeviceCopy: return "copies on the device";
    case replay::WorkKind::kMemset: return "fills";
  }
  return "";
}

std::string_view singular_of(replay::WorkKind kind) {
  switch (kind) {
    case replay::WorkKind::kKernel: return "kernel";
    case replay::WorkKind::kCollective: return "collective";
    case replay::WorkKind::kHostCopy: return "host copy";
    case replay::WorkKind::kDeviceCopy: return "device copy";
    case replay::WorkKind::kMemset: return "fill";
  }
  return "";
}

double microseconds(Nanoseconds ns) { return static_cast<double>(ns) / static_cast<double>(kMicrosecond); }

struct Describe {
  std::optional<std::string_view> number = {};  ///< instead of the edit's own

  [[nodiscard]] std::string shown(double own) const { return number ? std::string(*number) : fmt::format("{}", own); }

  std::string operator()(const ScaleStage& e) const {
    return fmt::format("{} takes {} times as long on the device", schedule::to_string(e.stage), shown(e.by));
  }
  std::string operator()(const ScaleKernels& e) const {
    return fmt::format("kernels that match \"{}\" take {} times as long", e.pattern, shown(e.by));
  }
  std::string operator()(const ScaleKind& e) const {
    return fmt::format("{} take {} times as long", plural_of(e.kind), shown(e.by));
  }
  std::string operator()(const ScaleLink& e) const {
    return fmt::format("the link {} has {} times the bandwidth", e.link == Link::kGpu ? "between GPUs" : "to the host",
                       shown(e.by));
  }
  std::string operator()(const ScaleHost& e) const {
    return fmt::format("the host takes {} times as long", shown(e.by));
  }
  std::string operator()(const DropSync& e) const {
    return fmt::format("{} no longer blocks the host", schedule::to_string(e.stage));
  }
  std::string operator()(const CaptureStage& e) const {
    return fmt::format("{} is captured into a CUDA graph", schedule::to_string(e.stage));
  }
  std::string operator()(const AddWork& e) const {
    return fmt::format("{} has a {} of {} us more", schedule::to_string(e.stage), singular_of(e.kind),
                       shown(microseconds(e.takes)));
  }
};

}  // namespace

std::string describe(const Edit& edit) { return std::visit(Describe{}, edit.change); }

std::string describe(const Edit& edit, std::string_view number) { return std::visit(Describe{number}, edit.change); }

}  // namespace interlace::what_if
