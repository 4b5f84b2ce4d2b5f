#include <functional>

#include "engine/calibrate/cuda_objects.hpp"
#include "engine/calibrate/kernels.hpp"
#include "engine/calibrate/measurements.hpp"

namespace interlace::calibrate {

namespace {

constexpr std::size_t kMega = std::size_t{1} << 20;
constexpr double kBytesPerUsInGb = 1e-3;  // bytes / us = 1e-3 GB/s

/// Median microseconds of what `work` queues on a stream of the current device.
double time_of(const Effort& effort, const std::function<void(const Stream&)>& work) {
  const Stream stream;
  const Event begin;
  const Event end;
  std::vector<double> times;
  for (int i = 0; i <= effort.repeats; ++i) {
    begin.record(stream);
    work(stream);
    end.record(stream);
    stream.synchronise();
    if (i > 0) times.push_back(microseconds(begin, end));  // the first warms up
  }
  return median(std::move(times));
}

double gb_per_s(std::size_t bytes, double us) { return static_cast<double>(bytes) / us * kBytesPerUsInGb; }

void copy(void* to, const void* from, std::size_t bytes, const Stream& stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.get()), "cudaMemcpyAsync");
}

/// Both directions of a host link at once: each direction's bandwidth while the other is busy.
Json both_ways(const Memory& in_host, const Memory& in_device, const Memory& out_host, const Memory& out_device,
               const Effort& effort) {
  const Stream in;
  const Stream out;
  constexpr int kCopies = 4;
  std::vector<double> in_times;
  std::vector<double> out_times;
  for (int i = 0; i <= effort.repeats; ++i) {
    const Event in_begin;
    const Event in_end;
    const Event out_begin;
    const Event out_end;
    in_begin.record(in);
    out_begin.record(out);
    for (int k = 0; k < kCopies; ++k) {
      copy(in_device.as<void>(), in_host.as<void>(), in_host.bytes(), in);
      copy(out_host.as<void>(), out_device.as<void>(), out_host.bytes(), out);
    }
    in_end.record(in);
    out_end.record(out);
    in.synchronise();
    out.synchronise();
    if (i == 0) continue;
    in_times.push_back(microseconds(in_begin, in_end));
    out_times.push_back(microseconds(out_begin, out_end));
  }
  return {{"host_to_device_gb_per_s", gb_per_s(kCopies * in_host.bytes(), median(in_times))},
          {"device_to_host_gb_per_s", gb_per_s(kCopies * out_host.bytes(), median(out_times))}};
}

/// Of each device while all others copy in the same direction.
Json all_devices_at_once(int devices, std::size_t bytes, const Effort& effort) {
  struct Side {
    Memory host;
    Memory device;
    Stream stream;
    Event begin;
    Event end;
  };
  std::vector<Side> sides;
  for (int d = 0; d < devices; ++d) {
    use_device(d);
    sides.push_back(
        {Memory(Memory::Place::kPinned, bytes), Memory(Memory::Place::kDevice, bytes), Stream(), Event(), Event()});
  }
  std::vector<double> times;
  for (int i = 0; i <= effort.repeats; ++i) {
    for (int d = 0; d < devices; ++d) {
      const Side& side = sides[static_cast<std::size_t>(d)];
      use_device(d);
      side.begin.record(side.stream);
      for (int k = 0; k < 4; ++k) copy(side.device.as<void>(), side.host.as<void>(), bytes, side.stream);
      side.end.record(side.stream);
    }
    double slowest = 0;
    for (const Side& side : sides) {
      side.stream.synchronise();
      slowest = std::max(slowest, microseconds(side.begin, side.end));
    }
    if (i > 0) times.push_back(slowest);
  }
  return {{"devices", devices}, {"host_to_device_each_gb_per_s", gb_per_s(4 * bytes, median(std::move(times)))}};
}

double peer_copy_us(const Memory& to, int to_device, const Memory& from, int from_device, const Effort& effort) {
  use_device(from_device);
  return time_of(effort, [&](const Stream& stream) {
    check(cudaMemcpyPeerAsync(to.as<void>(), to_device, from.as<void>(), from_device, from.bytes(), stream.get()),
          "cudaMemcpyPeerAsync");
  });
}

double peer_both_ways_us(const Memory& a, const Memory& a_in, int a_device, const Memory& b, const Memory& b_in,
                         int b_device, const Effort& effort) {
  use_device(b_device);
  const Stream back;
  use_device(a_device);
  const Stream there;
  const Event begin;
  const Event end;
  const auto peer = [](const Memory& to, int to_device, const Memory& from, int from_device, const Stream& stream) {
    check(cudaMemcpyPeerAsync(to.as<void>(), to_device, from.as<void>(), from_device, from.bytes(), stream.get()),
          "cudaMemcpyPeerAsync");
  };
  std::vector<double> times;
  for (int i = 0; i <= effort.repeats; ++i) {
    use_device(b_device);
    for (int k = 0; k < 6; ++k) peer(a_in, a_device, b, b_device, back);  // for longer than the one that is timed
    use_device(a_device);
    begin.record(there);
    for (int k = 0; k < 4; ++k) peer(b_in, b_device, a, a_device, there);
    end.record(there);
    there.synchronise();
    back.synchronise();
    if (i > 0) times.push_back(microseconds(begin, end) / 4);
  }
  return median(std::move(times));
}

}  // namespace

Json measure_memory(const Effort& effort) {
  use_device(0);
  const std::size_t bytes = (effort.quick ? 256 : 1024) * kMega;
  const Memory from(Memory::Place::kDevice, bytes);
  const Memory to(Memory::Place::kDevice, bytes);
  const Memory sum(Memory::Place::kDevice, 16);
  const auto rows = static_cast<std::int64_t>(bytes / 512);
  const double read =
      time_of(effort, [&](const Stream& s) { launch_read(from.as<void>(), sum.as<float>(), bytes, s.get()); });
  const double write = time_of(effort, [&](const Stream& s) { launch_write(to.as<void>(), bytes, s.get()); });
  const double copied =
      time_of(effort, [&](const Stream& s) { launch_copy(to.as<void>(), from.as<void>(), bytes, s.get()); });
  const double engine = time_of(effort, [&](const Stream& s) { copy(to.as<void>(), from.as<void>(), bytes, s); });
  const double gathered =
      time_of(effort, [&](const Stream& s) { launch_gather(from.as<void>(), sum.as<float>(), rows, rows, s.get()); });
  return {{"bytes", bytes},
          {"read_gb_per_s", gb_per_s(bytes, read)},
          {"write_gb_per_s", gb_per_s(bytes, write)},
          {"copy_gb_per_s", gb_per_s(2 * bytes, copied)},
          {"memcpy_gb_per_s", gb_per_s(2 * bytes, engine)},
          {"scattered_rows_of_512_bytes_gb_per_s", gb_per_s(bytes, gathered)}};
}

Json measure_host_links(int devices, const Effort& effort) {
  use_device(0);
  const std::size_t bytes = (effort.quick ? 32 : 128) * kMega;
  const Memory pinned_in(Memory::Place::kPinned, bytes);
  const Memory pinned_out(Memory::Place::kPinned, bytes);
  const Memory pageable(Memory::Place::kPageable, bytes);
  const Memory in(Memory::Place::kDevice, bytes);
  const Memory out(Memory::Place::kDevice, bytes);
  const auto rate = [&](const Memory& to, const Memory& from) {
    return gb_per_s(bytes, time_of(effort, [&](const Stream& s) { copy(to.as<void>(), from.as<void>(), bytes, s); }));
  };
  Json json{{"bytes", bytes}};
  json["pinned"] = {{"host_to_device_gb_per_s", rate(in, pinned_in)},
                    {"device_to_host_gb_per_s", rate(pinned_out, out)},
                    {"both_at_once", both_ways(pinned_in, in, pinned_out, out, effort)}};
  json["pageable"] = {{"host_to_device_gb_per_s", rate(in, pageable)},
                      {"device_to_host_gb_per_s", rate(pageable, out)}};
  json["all_devices_at_once"] = all_devices_at_once(devices, bytes, effort);
  use_device(0);
  return json;
}

Json measure_peer_links(int devices, const Effort& effort) {
  Json rows = Json::array();
  const std::size_t bytes = (effort.quick ? 64 : 256) * kMega;
  for (int a = 0; a < devices; ++a) {
    for (int b = a + 1; b < devices; ++b) {
      int direct = 0;
      check(cudaDeviceCanAccessPeer(&direct, a, b), "cudaDeviceCanAccessPeer");
      if (direct != 0) {
        for (const auto& [here, there] : {std::pair{a, b}, std::pair{b, a}}) {
          use_device(here);
          const cudaError_t enabled = cudaDeviceEnablePeerAccess(there, 0);
          if (enabled == cudaErrorPeerAccessAlreadyEnabled) {
            static_cast<void>(cudaGetLastError());
          } else {
            check(enabled, "cudaDeviceEnablePeerAccess");
          }
        }
      }
      use_device(a);
      const Memory from_a(Memory::Place::kDevice, bytes);
      const Memory to_a(Memory::Place::kDevice, bytes);
      use_device(b);
      const Memory from_b(Memory::Place::kDevice, bytes);
      const Memory to_b(Memory::Place::kDevice, bytes);
      const double one_way = peer_copy_us(to_b, b, from_a, a, effort);
      const double back = peer_copy_us(to_a, a, from_b, b, effort);
      const double both = peer_both_ways_us(from_a, to_a, a, from_b, to_b, b, effort);
      rows.push_back({{"from", a},
                      {"to", b},
                      {"direct", direct != 0},
                      {"gb_per_s", gb_per_s(bytes, one_way)},
                      {"back_gb_per_s", gb_per_s(bytes, back)},
                      {"both_at_once_each_gb_per_s", gb_per_s(bytes, both)}});
    }
  }
  use_device(0);
  return rows;
}

}  // namespace interlace::calibrate
