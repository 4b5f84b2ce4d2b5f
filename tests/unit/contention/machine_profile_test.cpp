#include "simulator/contention/machine_profile.hpp"

#include <gtest/gtest.h>

#include <string>

#include "simulator/contention/slowdown.hpp"

namespace interlace::contention {
namespace {

std::string profile_with(const std::string& more) {
  return R"({"interlace_machine": 1, "hardware": {"gpu": "NVIDIA H200", "sm_count": 132})" + more + "}";
}

std::string code_of(const std::string& text) {
  try {
    static_cast<void>(parse_machine_profile(text, "machine.json"));
  } catch (const Error& error) {
    EXPECT_EQ(error.place(), "machine.json");
    return std::string(error.code());
  }
  return {};
}

TEST(MachineProfile, TellsLatencies) {
  const MachineProfile profile = parse_machine_profile(
      profile_with(
          R"(, "latencies": {"launch_to_seen_by_host_us": 5.5, "across_streams_us": 2, "next_on_stream_us": 1})"),
      "machine.json");
  EXPECT_EQ(profile.gpu, "NVIDIA H200");
  EXPECT_EQ(profile.launch_latency_ns, 5'500);
  EXPECT_EQ(profile.wait_latency_ns, 2'000);
  EXPECT_EQ(profile.dispatch_gap_ns, 1'000);
  EXPECT_FALSE(profile.streaming_sensitivity);
  EXPECT_EQ(profile.values().size(), 3U);
  const std::vector<std::string> recorded{"gap between works", "another"};
  EXPECT_EQ(profile.values(recorded).size(), 2U) << "what the recording tells is not taken from the profile";
}

TEST(MachineProfile, TellsWhatWaitingStreamsAddToAGap) {
  const std::string of_both = R"("next_beside_waiting_us": 2.5, "next_beside_waiting_and_copy_us": 6)";
  const MachineProfile profile = parse_machine_profile(
      profile_with(R"(, "latencies": {"next_on_stream_us": 1.5, )" + of_both + "}"), "machine.json");
  EXPECT_EQ(profile.fetch_beside_work_ns, 1'000);
  EXPECT_EQ(profile.fetch_beside_copies_ns, 4'500);
  EXPECT_EQ(profile.values().size(), 3U);
  const MachineProfile without_gap =
      parse_machine_profile(profile_with(R"(, "latencies": {)" + of_both + "}"), "machine.json");
  EXPECT_FALSE(without_gap.fetch_beside_work_ns);
}

TEST(MachineProfile, TellsSensitivitiesFromTheCtasThatAKernelLost) {
  // 132 / 100: a collective of 32 CTAs, so that sensitivities are the slowdowns less one.
  const MachineProfile profile = parse_machine_profile(profile_with(R"(, "slowdowns": [
        {"work": "compute", "beside": "collective", "slowdown": 1.32},
        {"work": "streaming", "beside": "collective", "slowdown": 1.25},
        {"work": "gather", "beside": "collective", "slowdown": 1.6},
        {"work": "host_to_device", "beside": "collective", "slowdown": 2},
        {"work": "collective", "beside": "host_to_device", "slowdown": 1.25}])"),
                                                       "machine.json");
  EXPECT_NEAR(*profile.streaming_sensitivity, 0.25, 1e-9);
  EXPECT_NEAR(*profile.gather_sensitivity, 0.6, 1e-9);
  EXPECT_DOUBLE_EQ(*profile.host_copy_rate, 0.5);
  EXPECT_NEAR(*profile.lost_to_host_copies, 0.2, 1e-9);
}

// 66 CTAs cost no more than 48 do (memory_slowdown), so that is what the slowdown counts for.
TEST(MachineProfile, SensitivitiesGiveBackTheSlowdownOfManyCtas) {
  const MachineProfile profile = parse_machine_profile(profile_with(R"(, "slowdowns": [
        {"work": "compute", "beside": "collective", "slowdown": 2},
        {"work": "streaming", "beside": "collective", "slowdown": 1.3}])"),
                                                       "machine.json");
  EXPECT_NEAR(*profile.streaming_sensitivity, 0.2, 1e-9);
  EXPECT_NEAR(memory_slowdown({.waiting = 0, .moving = *profile.streaming_sensitivity}, {.moving = 66}), 1.3, 1e-9);
}

TEST(MachineProfile, DoesWithoutWhatWasNotMeasured) {
  const MachineProfile one_gpu = parse_machine_profile(
      profile_with(R"(, "slowdowns": [{"work": "compute", "beside": "streaming", "slowdown": 2}])"), "machine.json");
  EXPECT_TRUE(one_gpu.values().empty());
  // Of a compute-bound kernel hardly slowed no CTAs can be told, and of a work hardly covered no slowdown.
  const MachineProfile unclear = parse_machine_profile(profile_with(R"(, "slowdowns": [
        {"work": "compute", "beside": "collective", "slowdown": 1.01},
        {"work": "streaming", "beside": "collective", "slowdown": 1.25},
        {"work": "host_to_device", "beside": "collective", "slowdown": 2, "covered_part": 0.5}])"),
                                                       "machine.json");
  EXPECT_TRUE(unclear.values().empty());
}

TEST(MachineProfile, RefusesWhatIsNone) {
  const std::string code(kBadMachineProfile.name);
  EXPECT_EQ(code_of("no JSON"), code);
  EXPECT_EQ(code_of("{}"), code);
  EXPECT_EQ(code_of("[]"), code);
  EXPECT_EQ(code_of(R"({"interlace_machine": 2})"), code);
  EXPECT_EQ(code_of(profile_with(R"(, "latencies": {"across_streams_us": -1})")), code);
  EXPECT_EQ(code_of(profile_with(R"(, "latencies": {"across_streams_us": "2"})")), code);
  EXPECT_EQ(code_of(profile_with(R"(, "slowdowns": {})")), code);
  EXPECT_EQ(code_of(profile_with(R"(, "slowdowns": [{"work": "compute", "beside": "collective", "slowdown": 0}])")),
            code);
  EXPECT_THROW(static_cast<void>(read_machine_profile("/no/such/profile.json")), Error);
}

}  // namespace
}  // namespace interlace::contention
