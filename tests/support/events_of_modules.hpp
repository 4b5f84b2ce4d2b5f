#pragma once

namespace interlace::test {

/// A schedule in which one loop over modules records an event, "looked", behind each lookup, and another one waits for
/// it; so does main behind both.
inline constexpr const char* kEventsOfModules = R"({"interlace_schedule": 1, "name": "test/events_of_modules",
  "streams": {"main": {}, "lookup": {}, "out": {}}, "iteration": [
  {"stage": "next_batch", "batch": 0, "stream": "main"},
  {"stage": "copy_batch_to_gpu", "batch": 0, "stream": "main"},
  {"stage": "zero_grad", "batch": 0, "stream": "main"},
  {"stage": "input_dist_start", "batch": 0, "stream": "main"},
  {"stage": "input_dist_wait", "batch": 0, "stream": "main"},
  {"for_each": "module", "do": [
    {"stage": "input_dist_finish", "batch": 0, "stream": "main", "record_stream": ["lookup"]}]},
  {"wait": "main", "stream": "lookup"},
  {"for_each": "module", "do": [
    {"stage": "embedding_lookup", "batch": 0, "stream": "lookup", "record": "looked", "record_stream": ["out"]}]},
  {"for_each": "module", "do": [
    {"wait": "looked", "on": "out", "batch": 0},
    {"stage": "output_dist_start", "batch": 0, "stream": "out", "record_stream": ["main"]}]},
  {"wait": "looked", "on": "main", "batch": 0},
  {"stage": "output_dist_wait", "batch": 0, "stream": "main"},
  {"stage": "dense_forward", "batch": 0, "stream": "main"},
  {"stage": "backward", "batch": 0, "stream": "main"},
  {"stage": "optimizer_step", "batch": 0, "stream": "main"}]})";

}  // namespace interlace::test
