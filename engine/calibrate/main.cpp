#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/calibrate/cuda_objects.hpp"
#include "engine/calibrate/measurements.hpp"

namespace {

using interlace::calibrate::check;
using interlace::calibrate::Json;

constexpr int kUsage = 2;

constexpr const char* kHelp =
    "interlace calibrate [--out FILE] [--devices N] [--quick]\n"
    "Measures this machine's GPUs and writes a profile (docs/calibrate.md) that interlace predict --machine takes.\n"
    "  --out FILE    where to write it; standard output where absent\n"
    "  --devices N   GPUs to use; all where absent\n"
    "  --quick       smaller sizes and fewer repeats: for a first look, not for predictions\n";

struct Options {
  std::string out;
  int devices = 0;  // 0: all
  interlace::calibrate::Effort effort;
};

/// False where the words cannot be understood.
bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--quick") {
      options.effort = {.repeats = 3, .quick = true};
    } else if (word == "--out" && i + 1 < argc) {
      options.out = argv[++i];
    } else if (word == "--devices" && i + 1 < argc) {
      const std::string_view number = argv[++i];
      const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), options.devices);
      if (problem != std::errc() || end != number.data() + number.size() || options.devices < 1) return false;
    } else {
      return false;
    }
  }
  return true;
}

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
    std::cerr << "error: --devices " << options.devices << ": this machine has " << there << '\n';
    return EXIT_FAILURE;
  }
  const auto measured = [&] { return measure(options, options.devices == 0 ? there : options.devices).dump(1) + "\n"; };
  if (options.out.empty()) {
    std::cout << measured();
    return std::cout.flush() ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  // Opened first, so that what cannot be written is not measured; an older profile stays until the new one is whole.
  const std::string partial = options.out + ".partial";
  std::ofstream file(partial, std::ios::binary);
  if (!file) {
    std::cerr << "error: " << partial << " cannot be written\n";
    return EXIT_FAILURE;
  }
  try {
    file << measured();
  } catch (...) {
    std::remove(partial.c_str());
    throw;
  }
  file.close();
  if (file && std::rename(partial.c_str(), options.out.c_str()) == 0) return EXIT_SUCCESS;
  std::cerr << "error: " << options.out << " cannot be written: what was measured is in " << partial << '\n';
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    std::cout << kHelp;
    return EXIT_SUCCESS;
  }
  if (!read_options(argc, argv, options)) {
    std::cerr << kHelp;
    return kUsage;
  }
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
