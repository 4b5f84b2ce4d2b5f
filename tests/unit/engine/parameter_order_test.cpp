#include "engine/pipeline/parameter_order.hpp"

#include <gtest/gtest.h>

#include <string>

#include "simulator/schedule/parse.hpp"

namespace interlace::engine {
namespace {

// The lookup of batch 2 waits for an event of `recorder`: an exchange behind the optimizer, or one that is issued below
// it, on a stream that waits for the lookup only.
bool is_refused(const std::string& recorder) {
  const auto event = [&](const std::string& stage) {
    return stage == recorder ? std::string(R"(, "record": "e")") : std::string();
  };
  const std::string lines = R"({"interlace_schedule": 1, "name": "test/order",
    "streams": {"main": {}, "data_dist": {}, "lookup": {}, "send": {}},
    "iteration": [
      {"stage": "copy_batch_to_gpu", "batch": 2, "stream": "data_dist"},
      {"stage": "input_dist_start", "batch": 2, "stream": "data_dist"},
      {"stage": "input_dist_wait", "batch": 2, "stream": "data_dist"},
      {"stage": "input_dist_finish", "batch": 2, "stream": "data_dist"},
      {"stage": "zero_grad", "batch": 0, "stream": "main", "after": ["data_dist", "send"]},
      {"stage": "output_dist_wait", "batch": 0, "stream": "main"},
      {"stage": "dense_forward", "batch": 0, "stream": "main"},
      {"stage": "backward", "batch": 0, "stream": "main"},
      {"stage": "optimizer_step", "batch": 0, "stream": "main"},
      {"stage": "compute", "batch": 0, "stream": "main", "writes": ["x"]},
      {"stage": "all_to_all", "batch": 0, "stream": "main", "async": true, "reads": ["x"])" +
                            event("all_to_all") + R"(},
      {"stage": "output_dist_start", "batch": 1, "stream": "send", "after": ["lookup"])" +
                            event("output_dist_start") + R"(},
      {"wait": "e", "on": "lookup", "batch": )" +
                            (recorder == "all_to_all" ? "0" : "1") + R"(},
      {"stage": "embedding_lookup", "batch": 2, "stream": "lookup", "after": ["data_dist"]}]})";
  try {
    require_ordered_processors(schedule::parse(lines, "test"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kUnorderedProcessor.name);
    return true;
  }
  return false;
}

// Exchanges run one behind the other, so that an event behind the second would be behind the first, too.
TEST(ParameterOrder, OnlyTheEventOfAnAllToAllIsBehindItsExchange) {
  EXPECT_FALSE(is_refused("all_to_all"));
  EXPECT_TRUE(is_refused("output_dist_start"));
}

}  // namespace
}  // namespace interlace::engine
