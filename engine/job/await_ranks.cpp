#include "engine/job/await_ranks.hpp"

#include <chrono>
#include <thread>

namespace interlace::engine {

std::string await_key(JobStore& store, const std::string& key, Progress& progress, const std::string& place) {
  constexpr std::chrono::milliseconds kBetweenLooks{100};
  while (!store.has(key)) {
    progress.entered(place);
    std::this_thread::sleep_for(kBetweenLooks);
    progress.left();
  }
  return store.get(key);
}

// Rank 0 looks at all and says so: where each looked at each, the store would be asked the square of their number.
void await_ranks(JobStore& store, const std::string& what, int rank, int ranks, Progress& progress) {
  const auto key_of = [&what](int which) { return what + '/' + std::to_string(which); };
  const std::string all = what + "/all";
  if (rank != 0) {
    store.put(key_of(rank), "");
    static_cast<void>(await_key(store, all, progress, "waiting for the other ranks"));
    return;
  }
  for (int other = 1; other < ranks; ++other) {
    static_cast<void>(await_key(store, key_of(other), progress, "waiting for rank " + std::to_string(other)));
  }
  store.put(all, "");
}

}  // namespace interlace::engine
