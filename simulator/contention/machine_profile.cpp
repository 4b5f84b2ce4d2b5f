#include "simulator/contention/machine_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "simulator/base/json_error.hpp"
#include "simulator/base/text_file.hpp"
#include "simulator/contention/kernel_shape.hpp"

namespace interlace::contention {

namespace {

using Json = nlohmann::json;

constexpr double kNsPerUs = 1e3;
constexpr double kCovered = 0.9;   // less of a work beside the other says little
constexpr double kFewestCtas = 4;  // fewer hold too little for a slowdown to be told from noise

[[noreturn]] void refuse(const std::string& source, const std::string& problem) {
  throw Error(kBadMachineProfile, source, problem, "make the profile anew with interlace calibrate");
}

class ProfileReader {
 public:
  ProfileReader(const Json& json, const std::string& source) : json_(&json), source_(&source) {}

  MachineProfile read() const {
    const Json* version = field(*json_, "interlace_machine");
    if (version == nullptr || !version->is_number_integer())
      fail("interlace_machine", "is missing: this is no profile");
    if (*version != 1) fail("interlace_machine", "is of a version that this program does not know");
    MachineProfile profile;
    profile.source = *source_;
    const Json* hardware = field(*json_, "hardware");
    if (hardware != nullptr && hardware->is_object()) profile.gpu = hardware->value("gpu", std::string());
    const Json* quick = field(*json_, "quick");
    profile.quick = quick != nullptr && quick->is_boolean() && quick->get<bool>();
    if (const Json* latencies = field(*json_, "latencies")) {
      profile.launch_latency_ns = microseconds(*latencies, "launch_to_seen_by_host_us");
      profile.wait_latency_ns = microseconds(*latencies, "across_streams_us");
      profile.dispatch_gap_ns = microseconds(*latencies, "next_on_stream_us");
      const auto more_than_gap = [&](const char* name) -> std::optional<double> {
        const auto gap = microseconds(*latencies, name);
        return gap && profile.dispatch_gap_ns ? std::optional(std::max(0.0, *gap - *profile.dispatch_gap_ns))
                                              : std::nullopt;
      };
      profile.fetch_beside_work_ns = more_than_gap("next_beside_waiting_us");
      profile.fetch_beside_copies_ns = more_than_gap("next_beside_waiting_and_copy_us");
    }
    read_slowdowns(hardware, profile);
    return profile;
  }

 private:
  [[noreturn]] void fail(const std::string& name, const std::string& problem) const {
    throw Error(kBadMachineProfile, *source_, name + " " + problem, "make the profile anew with interlace calibrate");
  }

  static const Json* field(const Json& of, const char* name) {
    if (!of.is_object()) return nullptr;
    const auto found = of.find(name);
    return found == of.end() || found->is_null() ? nullptr : &*found;
  }

  [[nodiscard]] std::optional<double> number(const Json& of, const char* name) const {
    const Json* value = field(of, name);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number()) fail(name, "is no number");
    const auto read = value->get<double>();
    if (!std::isfinite(read) || read < 0) fail(name, "is negative or no finite number");
    return read;
  }

  [[nodiscard]] std::optional<double> microseconds(const Json& of, const char* name) const {
    const auto us = number(of, name);
    return us ? std::optional(*us * kNsPerUs) : std::nullopt;
  }

  [[nodiscard]] std::optional<double> slowdown(std::string_view work, std::string_view beside) const {
    const Json* rows = field(*json_, "slowdowns");
    if (rows == nullptr) return std::nullopt;
    if (!rows->is_array()) fail("slowdowns", "is no list");
    for (const Json& row : *rows) {
      const Json* one = field(row, "work");
      const Json* other = field(row, "beside");
      if (one == nullptr || other == nullptr || *one != work || *other != beside) continue;
      const auto times = number(row, "slowdown");
      if (times && *times <= 0) fail("slowdown", "is not greater than 0");
      if (number(row, "covered_part").value_or(1.0) < kCovered) return std::nullopt;
      return times;
    }
    return std::nullopt;
  }

  void read_slowdowns(const Json* hardware, MachineProfile& profile) const {
    const auto compute = slowdown("compute", "collective");
    const auto sms = hardware == nullptr ? std::nullopt : number(*hardware, "sm_count");
    if (compute && sms && *compute > 1) {
      const double ctas = *sms * (1 - 1 / *compute);
      const auto sensitivity = [&](std::string_view work) -> std::optional<double> {
        const auto times = slowdown(work, "collective");
        if (!times || ctas < kFewestCtas) return std::nullopt;
        return std::max(0.0, *times - 1) * kReferenceCtas / std::min(ctas, kMostCtas);
      };
      profile.streaming_sensitivity = sensitivity("streaming");
      profile.gather_sensitivity = sensitivity("gather");
    }
    const auto part_left = [&](std::string_view work, std::string_view beside) -> std::optional<double> {
      const auto times = slowdown(work, beside);
      return times ? std::optional(std::min(1.0, 1 / *times)) : std::nullopt;
    };
    profile.host_copy_rate = part_left("host_to_device", "collective");
    if (const auto left = part_left("collective", "host_to_device")) profile.lost_to_host_copies = 1 - *left;
  }

  const Json* json_;
  const std::string* source_;
};

}  // namespace

std::vector<std::string> MachineProfile::values(std::span<const std::string> recorded) const {
  std::vector<std::string> texts;
  const auto add = [&](std::string_view what, const std::optional<double>& value, double unit, std::string_view name) {
    if (value && std::ranges::find(recorded, what) == recorded.end())
      texts.push_back(fmt::format("{} {:.3g}{}", what, *value / unit, name));
  };
  add("launch latency", launch_latency_ns, kNsPerUs, " us");
  add("wait latency", wait_latency_ns, kNsPerUs, " us");
  add("gap between works", dispatch_gap_ns, kNsPerUs, " us");
  add("delay by streams that wait", fetch_beside_work_ns, kNsPerUs, " us");
  add("delay by them beside copies", fetch_beside_copies_ns, kNsPerUs, " us");
  add("sensitivity of streaming kernels", streaming_sensitivity, 1, "");
  add("sensitivity of kernels that follow indices", gather_sensitivity, 1, "");
  add("pace of host copies beside collectives", host_copy_rate, 1, "");
  add("loss of collectives to host copies", lost_to_host_copies, 1, "");
  return texts;
}

MachineProfile parse_machine_profile(std::string_view json, const std::string& source) {
  Json document;
  try {
    document = Json::parse(json);
  } catch (const Json::exception& error) {
    refuse(source, not_json(error.what()));
  }
  try {
    return ProfileReader(document, source).read();
  } catch (const Json::exception& error) {
    refuse(source, std::string(json_complaint(error.what())));
  }
}

MachineProfile read_machine_profile(const std::filesystem::path& file) {
  return parse_machine_profile(read_text_file(file, kBadMachineProfile, "name a file of interlace calibrate"),
                               file.string());
}

}  // namespace interlace::contention
