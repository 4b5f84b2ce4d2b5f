#include "engine/gpu/store_place.hpp"

#include <charconv>
#include <string>

#include "engine/job/start_ranks.hpp"

namespace interlace::engine {

namespace {

// torchrun's agent keeps its store when it starts failed ranks again: what the attempt before left there, its failure
// too, is none of this one's.
std::string attempt_of(const Environment& environment) {
  std::string attempt;
  for (const char* name : {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}) {
    const auto value = environment(name);
    if (value) attempt += (attempt.empty() ? "" : "/") + *value;
  }
  return attempt;
}

}  // namespace

StorePlace store_place(const std::optional<WorldPlace>& world, const Environment& environment) {
  if (!world) return {.host = "127.0.0.1", .port = 0, .serves = true, .of_rank_0 = true};
  const auto address = environment("MASTER_ADDR");
  const auto port_text = environment("MASTER_PORT");
  std::uint16_t port = 0;
  bool is_port = false;
  if (port_text) {
    const char* end = port_text->data() + port_text->size();
    const auto [stop, problem] = std::from_chars(port_text->data(), end, port);
    is_port = problem == std::errc() && stop == end && port > 0;
  }
  if (!address || address->empty() || !is_port) {
    throw Error(kWorldSize, world->starter, "MASTER_ADDR and MASTER_PORT do not say where the ranks meet",
                "set them, the same for all ranks, to the machine of rank 0 and a port that is free there");
  }
  const bool started_here = environment(kStoreIsHeld).has_value();
  const bool held = started_here || environment("TORCHELASTIC_USE_AGENT_STORE").value_or("") == "True";
  return {.host = *address,
          .port = port,
          .serves = world->rank == 0 && !held,
          .of_rank_0 = !held,
          .attempt = started_here ? std::string() : attempt_of(environment)};
}

}  // namespace interlace::engine
