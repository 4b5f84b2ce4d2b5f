#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "engine/calibrate/cuda_objects.hpp"
#include "engine/calibrate/measurements.hpp"
#include "simulator/base/program.hpp"
#include "simulator/base/usage_error.hpp"

namespace {

using interlace::calibrate::check;
using interlace::calibrate::Json;

constexpr interlace::ErrorCode kCannotWrite{"calibrate.cannot_write"};
constexpr interlace::ErrorCode kTooFewGpus{"calibrate.too_few_gpus"};

struct Options {
  std::string out;
  int devices = 0;  // 0: all
  interlace::calibrate::Effort effort;
};

std::string now() {
  const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Json hardware(int devices) {
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  int driver = 0;
  int runtime = 0;
  int nccl = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  check(ncclGetVersion(&nccl), "ncclGetVersion");
  return {{"gpu", device.name},
          {"gpus", devices},
          {"compute_capability", std::to_string(device.major) + "." + std::to_string(device.minor)},
          {"sm_count", device.multiProcessorCount},
          {"memory_bytes", device.totalGlobalMem},
          {"l2_cache_bytes", device.l2CacheSize},
          {"copy_engines", device.asyncEngineCount},
          {"cuda_driver", driver},
          {"cuda_runtime", runtime},
          {"nccl", nccl}};
}

/// Variables that decide how NCCL moves data.
Json settings() {
  Json json = Json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string line = *entry;
    const std::size_t sign = line.find('=');
    if (line.rfind("NCCL_", 0) == 0 && sign != std::string::npos) json[line.substr(0, sign)] = line.substr(sign + 1);
  }
  return json;
}

Json measure(const Options& options, int devices) {
  using namespace interlace::calibrate;
  const auto told = [](const char* what) { std::cerr << "measuring " << what << std::endl; };
  Json json{{"interlace_machine", 1},        {"interlace", INTERLACE_VERSION}, {"measured", now()},
            {"quick", options.effort.quick}, {"hardware", hardware(devices)},  {"settings", settings()}};
  told("latencies");
  json["latencies"] = measure_latencies(options.effort);
  told("memory");
  json["device_memory"] = measure_memory(options.effort);
  told("host links");
  json["host_link"] = measure_host_links(devices, options.effort);
  told("peer links");
  json["peer_links"] = measure_peer_links(devices, options.effort);
  told("collectives");
  json["collectives"] = measure_collectives(devices, options.effort);
  told("slowdowns");
  json["slowdowns"] = measure_slowdowns(devices, options.effort);
  return json;
}

int run(const Options& options) {
  int there = 0;
  check(cudaGetDeviceCount(&there), "cudaGetDeviceCount");
  if (options.devices > there) {
    throw interlace::Error(kTooFewGpus, "--devices " + std::to_string(options.devices),
                           "this machine has " + std::to_string(there), "leave it out to use all");
  }
  const auto measured = [&] { return measure(options, options.devices == 0 ? there : options.devices).dump(1) + "\n"; };
  if (options.out.empty()) {
    std::cout << measured();
    return interlace::kSuccess;
  }
  // Opened first, so that what cannot be written is not measured; an older profile stays until the new one is whole.
  const std::string partial = options.out + ".partial";
  std::ofstream file(partial, std::ios::binary);
  if (!file) {
    throw interlace::Error(kCannotWrite, partial, "cannot be made",
                           "see that the folder is there and may be written to");
  }
  try {
    file << measured();
  } catch (...) {
    std::remove(partial.c_str());
    throw;
  }
  file.close();
  if (file && std::rename(partial.c_str(), options.out.c_str()) == 0) return interlace::kSuccess;
  throw interlace::Error(kCannotWrite, options.out, "cannot be written: what was measured is in " + partial,
                         "see that it may be written to");
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{
      "Measures this machine's GPUs and writes a profile (docs/calibrate.md) that interlace predict --machine takes.",
      "interlace calibrate"};
  Options options;
  bool quick = false;
  app.add_option("--out", options.out, "Where to write it; standard output where absent")->type_name("FILE");
  app.add_option("--devices", options.devices, "GPUs to use; all where absent")->check(CLI::Range(1, 1024));
  app.add_flag("--quick", quick, "Smaller sizes and fewer repeats: for a first look, not for predictions");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return interlace::end_of_parsing(app, error);
  }
  if (quick) options.effort = {.repeats = 3, .quick = true};
  return run(options);
}

}  // namespace

int main(int argc, char** argv) {
  return interlace::end_of([argc, argv] { return parse_and_run(argc, argv); });
}
