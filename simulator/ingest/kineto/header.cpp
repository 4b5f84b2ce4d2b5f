#include "simulator/ingest/kineto/header.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "simulator/ingest/kineto/flaws.hpp"
#include "simulator/ingest/kineto/numbers.hpp"

namespace interlace::ingest::kineto {

namespace {

using Json = nlohmann::json;

std::optional<std::int64_t> integer(const Json& object, const char* key) {
  if (!object.is_object()) return std::nullopt;
  const auto field = object.find(key);
  // dump() and parse: a number beyond int64 or with a fraction gives none instead of something close.
  return field != object.end() && field->is_number() ? parse_integer(field->dump()) : std::nullopt;
}

std::optional<std::int32_t> small_integer(const Json& object, const char* key) {
  const auto value = integer(object, key);
  return value && *value >= 0 && *value <= INT32_MAX ? std::optional(static_cast<std::int32_t>(*value)) : std::nullopt;
}

std::string text(const Json& object, const char* key) {
  const auto field = object.find(key);
  return field != object.end() && field->is_string() ? field->get<std::string>() : std::string();
}

/// "13000" -> "13.0".
std::string cuda_version(std::int64_t number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

class HeaderReader {
 public:
  HeaderReader(const std::map<std::string, std::string, std::less<>>& fields, const std::filesystem::path& file,
               Diagnostics& diagnostics)
      : fields_(fields), file_(file), diagnostics_(diagnostics) {}

  Header read() {
    Header header;
    read_distribution(field("distributedInfo"), header);
    if (fields_.contains("baseTimeNanoseconds")) {
      if (const auto base = parse_integer(fields_.find("baseTimeNanoseconds")->second)) {
        header.base_time = *base;
      } else {
        flaw("baseTimeNanoseconds");
      }
    }
    for (const char* const key : {"hostname", "host_name", "host"}) {
      if (header.host_name.empty()) header.host_name = field(key).is_string() ? field(key).get<std::string>() : "";
    }
    header.producer = producer();
    if (const Json devices = field("deviceProperties"); devices.is_array()) {
      for (const Json& device : devices) {
        if (device.is_object()) {
          header.devices.push_back(device_of(device));
        } else {
          flaw("deviceProperties");
        }
      }
    } else if (!devices.is_null()) {
      flaw("deviceProperties");
    }
    if (header.devices.empty()) diagnostics_.count(kNoDevices, file_.string());
    return header;
  }

 private:
  /// Null where absent.
  Json field(std::string_view key) {
    const auto found = fields_.find(key);
    if (found == fields_.end()) return nullptr;
    Json value = Json::parse(found->second, nullptr, false);
    if (!value.is_discarded()) return value;
    flaw(key);
    return nullptr;
  }

  void flaw(std::string_view key) { diagnostics_.count(kUnreadableHeader, fmt::format("{}: {}", file_.string(), key)); }

  /// A property that the profiler left out is 0; so is one that no GPU has, which is counted.
  trace::Device device_of(const Json& json) {
    const auto property = [&](const char* key, std::int64_t most) {
      if (!json.contains(key)) return std::int64_t{0};
      const auto value = integer(json, key);
      if (value && *value >= 0 && *value <= most) return *value;
      flaw(fmt::format("deviceProperties.{}", key));
      return std::int64_t{0};
    };
    const auto small = [&](const char* key) { return static_cast<std::int32_t>(property(key, INT32_MAX)); };
    trace::Device device;
    device.ordinal = property("id", INT32_MAX);
    device.name = text(json, "name");
    device.compute_major = small("computeMajor");
    device.compute_minor = small("computeMinor");
    device.sm_count = small("numSms");
    device.max_threads_per_sm = small("maxThreadsPerMultiprocessor");
    device.registers_per_sm = property("regsPerMultiprocessor", INT64_MAX);
    device.shared_memory_per_sm = property("sharedMemPerMultiprocessor", INT64_MAX);
    device.memory = property("totalGlobalMem", INT64_MAX);
    return device;
  }

  void read_distribution(const Json& info, Header& header) {
    if (info.is_null()) return;
    if (!info.is_object()) return flaw("distributedInfo");
    header.rank = small_integer(info, "rank");
    header.world_size = small_integer(info, "world_size");
    if (info.contains("rank") && !header.rank) flaw("distributedInfo.rank");
    if (info.contains("world_size") && !header.world_size) flaw("distributedInfo.world_size");
    if (header.world_size == 0) header.world_size.reset();
    const auto groups = info.find("pg_config");
    if (groups == info.end() || !groups->is_array()) return;
    for (const Json& group : *groups) {
      if (!group.is_object() || text(group, "pg_desc") != "default_pg") continue;
      const auto ranks = group.find("ranks");
      if (ranks == group.end() || !ranks->is_array()) continue;
      for (const Json& rank : *ranks) {
        if (rank.is_number_integer()) header.group_of_all.push_back(rank.get<std::int32_t>());
      }
    }
  }

  std::string producer() {
    std::string name = "kineto";
    if (const auto found = fields_.find("schemaVersion"); found != fields_.end()) name += " schema " + found->second;
    const Json version = field("cuda_runtime_version");
    if (version.is_number_integer() && version.get<std::int64_t>() > 0) {
      name += ", CUDA " + cuda_version(version.get<std::int64_t>());
    }
    return name;
  }

  const std::map<std::string, std::string, std::less<>>& fields_;
  const std::filesystem::path& file_;
  Diagnostics& diagnostics_;
};

}  // namespace

Header read_header(const std::map<std::string, std::string, std::less<>>& fields, const std::filesystem::path& file,
                   Diagnostics& diagnostics) {
  return HeaderReader(fields, file, diagnostics).read();
}

}  // namespace interlace::ingest::kineto
