#include "simulator/memory/stream_drains.hpp"

#include <gtest/gtest.h>

namespace interlace::memory {
namespace {

TEST(StreamDrains, AStreamIsDoneWithWhatWasQueuedBefore) {
  StreamDrains drains;
  drains.add(1, 100, 500);
  drains.add(1, 200, 900);
  EXPECT_EQ(drains.drained(1, 50), 50);
  EXPECT_EQ(drains.drained(1, 100), 500);
  EXPECT_EQ(drains.drained(1, 199), 500);
  EXPECT_EQ(drains.drained(1, 200), 900);
  EXPECT_EQ(drains.drained(1, 1000), 1000);
}

TEST(StreamDrains, WorkThatEndsEarlierDoesNotBringTheDrainForward) {
  StreamDrains drains;
  drains.add(0, 10, 800);
  drains.add(0, 20, 300);
  EXPECT_EQ(drains.drained(0, 20), 800);
}

TEST(StreamDrains, AllAreDoneWithTheLast) {
  StreamDrains drains;
  drains.add(0, 10, 800);
  drains.add(1, 20, 300);
  drains.add(1, 50, 900);
  EXPECT_EQ(drains.all_drained(5), 5);
  EXPECT_EQ(drains.all_drained(20), 800);
  EXPECT_EQ(drains.all_drained(50), 900);
}

TEST(StreamDrains, AStreamWithoutWorkIsDone) { EXPECT_EQ(StreamDrains().drained(7, 42), 42); }

}  // namespace
}  // namespace interlace::memory
