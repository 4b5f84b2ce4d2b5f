#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace interlace {

/// Pieces of work that need nothing of each other, to be done at once on all cores.
class AtOnce {
 public:
  /// What the work gives, or throws, the future has after `run`. doing: what that is told when it begins.
  template <class Work>
  [[nodiscard]] std::future<std::invoke_result_t<Work>> add(std::string doing, Work work) {
    auto task = std::make_shared<std::packaged_task<std::invoke_result_t<Work>()>>(std::move(work));
    pieces_.push_back({std::move(doing), [task] { (*task)(); }});
    return task->get_future();
  }

  [[nodiscard]] std::size_t size() const { return pieces_.size(); }

  /// Once. most: so many at a time; at least one. They begin in the order in which they were added. begins: told of one
  /// piece at a time, on any thread. Once that throws no further piece begins; it is thrown on when those that had
  /// begun are done, and the futures of the others are never ready.
  void run(std::size_t most, const std::function<void(const std::string& doing)>& begins);

 private:
  struct Piece {
    std::string doing;
    std::function<void()> work;
  };
  std::vector<Piece> pieces_;
};

}  // namespace interlace
