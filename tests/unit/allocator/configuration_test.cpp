#include "simulator/allocator/configuration.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace interlace::allocator {
namespace {

Configuration parsed(std::string_view text) {
  Diagnostics diagnostics;
  Configuration configuration = parse_configuration(text, "PYTORCH_CUDA_ALLOC_CONF", diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  return configuration;
}

std::string refused(std::string_view text) {
  Diagnostics diagnostics;
  try {
    static_cast<void>(parse_configuration(text, "the test", diagnostics));
  } catch (const Error& error) {
    EXPECT_EQ(error.place(), "the test");
    return std::string(error.code());
  }
  return "accepted";
}

TEST(AllocatorConfiguration, NothingGivenIsPyTorchsDefault) {
  EXPECT_EQ(parsed(""), Configuration{});
  EXPECT_EQ(parsed("backend:native"), Configuration{});
}

TEST(AllocatorConfiguration, ReadsEveryOption) {
  const Configuration read = parsed(
      "max_split_size_mb: 512,max_non_split_rounding_mb:64, garbage_collection_threshold:0.8,"
      "expandable_segments:True,per_process_memory_fraction:0.5,large_segment_size_mb:32,");
  Configuration expected;
  expected.max_split_size = 512 * kMiB;
  expected.max_non_split_rounding = 64 * kMiB;
  expected.garbage_collection_threshold = 0.8;
  expected.expandable_segments = true;
  expected.per_process_memory_fraction = 0.5;
  expected.large_segment_size = 32 * kMiB;
  EXPECT_EQ(read, expected);
}

TEST(AllocatorConfiguration, LargeSegmentsBoundOtherOptionsWhereverTheyStand) {
  EXPECT_EQ(parsed("large_segment_size_mb:64").max_non_split_rounding, 64 * kMiB);
  EXPECT_EQ(refused("max_split_size_mb:32,large_segment_size_mb:64"), "allocator.bad_option_value");
  EXPECT_EQ(parsed("max_split_size_mb:12,large_segment_size_mb:11").max_split_size, 12 * kMiB);
  EXPECT_EQ(refused("max_split_size_mb:19"), "allocator.bad_option_value");
  EXPECT_EQ(refused("large_segment_size_mb:10"), "allocator.bad_option_value");
}

TEST(AllocatorConfiguration, DivisionsForAll) {
  const Configuration read = parsed("roundup_power2_divisions:8");
  for (const Bytes divisions : read.roundup_power2_divisions) EXPECT_EQ(divisions, 8);
}

TEST(AllocatorConfiguration, DivisionsByInterval) {
  const Configuration read = parsed("roundup_power2_divisions:[64:8,256:4,1024:4,>:1]");
  const auto& slots = read.roundup_power2_divisions;
  for (std::size_t slot = 0; slot <= 6; ++slot) EXPECT_EQ(slots[slot], 8) << slot;  // 64 = 2^6, and all below
  EXPECT_EQ(slots[7], 0);                                                           // 128 is not named
  EXPECT_EQ(slots[8], 4);
  EXPECT_EQ(slots[9], 0);
  EXPECT_EQ(slots[10], 4);
  for (std::size_t slot = 11; slot < slots.size(); ++slot) EXPECT_EQ(slots[slot], 1) << slot;
  EXPECT_EQ(parsed("roundup_power2_divisions:[512:1,2048:8]").roundup_power2_divisions[10], 0);
}

TEST(AllocatorConfiguration, AHugeSizeMeansTheLastInterval) {
  EXPECT_EQ(parsed("roundup_power2_divisions:[1:0,1048576:4]").roundup_power2_divisions[15], 4);
}

TEST(AllocatorConfiguration, OptionsOfHostMemoryAndLocksAreLeftOut) {
  EXPECT_EQ(parsed("release_lock_on_cudamalloc:True,pinned_num_register_threads:8,pinned_use_cuda_host_register:True"),
            Configuration{});
}

TEST(AllocatorConfiguration, WhatIsNotModelledIsCounted) {
  Diagnostics diagnostics;
  static_cast<void>(parse_configuration("graph_capture_record_stream_reuse:True", "x", diagnostics));
  EXPECT_EQ(diagnostics.count_of("allocator.option_not_modelled"), 1);
  Diagnostics off;
  static_cast<void>(parse_configuration("graph_capture_record_stream_reuse:False", "x", off));
  EXPECT_TRUE(off.empty());
}

// A PyTorch that is newer than this model has options that it does not know.
TEST(AllocatorConfiguration, OptionsThatAreNotKnownAreCountedAndThoseBesideThemRead) {
  Diagnostics diagnostics;
  const Configuration read = parse_configuration(
      "roundup_bypass_threshold_mb:64,max_split_size_mb:512,of_sizes:[1:2,>:3],expandable_segments:True", "x",
      diagnostics);
  EXPECT_EQ(diagnostics.count_of("allocator.option_not_modelled"), 2);
  EXPECT_EQ(diagnostics.entries().front().first_place, "x: roundup_bypass_threshold_mb");
  EXPECT_EQ(read.max_split_size, 512 * kMiB);
  EXPECT_TRUE(read.expandable_segments);
}

TEST(AllocatorConfiguration, RefusesWhatPyTorchRefuses) {
  EXPECT_EQ(refused("max_split_size"), "allocator.bad_configuration");
  EXPECT_EQ(refused("max_split_size_mb:"), "allocator.bad_configuration");
  EXPECT_EQ(refused("max_split_size_mb:512 expandable_segments:True"), "allocator.bad_configuration");
  EXPECT_EQ(refused("max_split_size_mb:512:1"), "allocator.bad_configuration");
  EXPECT_EQ(refused("roundup_power2_divisions:[64:8"), "allocator.bad_configuration");
  EXPECT_EQ(refused("roundup_power2_divisions:[64:8 256:4]"), "allocator.bad_option_value");
  EXPECT_EQ(refused(",,"), "allocator.bad_configuration");
  EXPECT_EQ(refused("max_split_size_mb:many"), "allocator.bad_option_value");
  EXPECT_EQ(refused("max_split_size_mb:-40"), "allocator.bad_option_value");
  EXPECT_EQ(refused("expandable_segments:yes"), "allocator.bad_option_value");
  EXPECT_EQ(refused("garbage_collection_threshold:1"), "allocator.bad_option_value");
  EXPECT_EQ(refused("garbage_collection_threshold:nan"), "allocator.bad_option_value");
  EXPECT_EQ(refused("per_process_memory_fraction:1.5"), "allocator.bad_option_value");
  EXPECT_EQ(refused("roundup_power2_divisions:3"), "allocator.bad_option_value");
  EXPECT_EQ(refused("roundup_power2_divisions:0"), "allocator.bad_option_value");
  EXPECT_EQ(refused("roundup_power2_divisions:[48:2]"), "allocator.bad_option_value");
  EXPECT_EQ(refused("backend:mine"), "allocator.bad_option_value");
  EXPECT_EQ(refused("backend:cudaMallocAsync"), "allocator.unsupported_backend");
}

}  // namespace
}  // namespace interlace::allocator
