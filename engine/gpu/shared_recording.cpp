#include "engine/gpu/shared_recording.hpp"

#include <string>

#include "engine/launch/recording.hpp"
#include "simulator/base/random_name.hpp"

namespace interlace::engine {

void share_recording_folder(JobStore& store, const WorldPlace& world, const std::filesystem::path& folder,
                            Progress& progress) {
  progress.entered("making the folder of the recording");
  make_recording_folder(folder);
  const auto made = [](int rank) { return "recording/made/" + std::to_string(rank); };
  store.put(made(world.rank), "");
  if (world.rank == 0) {
    for (int rank = 1; rank < world.ranks; ++rank) static_cast<void>(store.get(made(rank)));
    store.put("recording/run", random_name());
  }
  set_recording_run(store.get("recording/run"));
  progress.left();
}

}  // namespace interlace::engine
