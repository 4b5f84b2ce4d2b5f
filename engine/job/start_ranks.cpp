#include "engine/job/start_ranks.hpp"

#include <csignal>
#include <map>
#include <optional>
#include <set>

#include "engine/job/job_store.hpp"
#include "engine/job/subprocess.hpp"
#include "engine/job/watch.hpp"
#include "engine/runtime/failure.hpp"
#include "simulator/base/start_program.hpp"

namespace interlace::engine {

namespace {

std::string last_place(JobStore& store, int rank) {
  const std::string key = "beat/" + std::to_string(rank);
  const std::string beat = store.has(key) ? store.get(key) : "";
  return beat.substr(std::min(beat.size(), beat.find(' ') + 1));
}

}  // namespace

int start_ranks(const std::string& program, const std::vector<std::string>& arguments, int ranks) {
  hear_of_ended_children();
  JobStore store({.host = "127.0.0.1", .port = 0, .serves = true, .of_rank_0 = false});
  const std::string port = std::to_string(store.place().port);
  std::map<pid_t, int> running;  // rank by process
  for (int rank = 0; rank < ranks; ++rank) {
    const std::map<std::string, std::string> variables = {{"RANK", std::to_string(rank)},
                                                          {"LOCAL_RANK", std::to_string(rank)},
                                                          {"WORLD_SIZE", std::to_string(ranks)},
                                                          {"MASTER_ADDR", store.place().host},
                                                          {"MASTER_PORT", port},
                                                          {kStoreIsHeld, "1"}};
    running.emplace(start_program({.program = program, .arguments = arguments, .variables = variables, .files = {}}),
                    rank);
  }
  bool all_well = true;
  std::set<pid_t> killed;
  std::optional<Error> lost;
  while (!running.empty()) {
    const std::optional<Ended> ended = wait_for_any(all_well ? std::chrono::milliseconds(1'000) : kGrace);
    if (!ended) {
      for (const auto& [process, rank] : running) {
        if (all_well) continue;
        static_cast<void>(kill(process, SIGKILL));
        killed.insert(process);
      }
      continue;
    }
    const auto found = running.find(ended->process);
    if (found == running.end()) continue;
    const int rank = found->second;
    running.erase(found);
    if (ended->status == 0) continue;
    all_well = false;
    if (killed.contains(ended->process)) continue;
    const Error error(kRankLost, place_of(rank, last_place(store, rank)),
                      ended->status > 128 ? "was ended by signal " + std::to_string(ended->status - 128)
                                          : "ended with status " + std::to_string(ended->status),
                      "all ranks are ended");
    // Whoever ends with status 1 has told why, but may have come to no Watch that ends the others.
    if (store.claim(kFailureKey, error.what()) && ended->status != 1) lost = error;
  }
  if (lost) throw Error(*lost);
  return all_well ? 0 : 1;
}

}  // namespace interlace::engine
