#pragma once

#include <span>
#include <string>
#include <vector>

namespace interlace::graph {

/// The two innermost ranges of a site, outermost first, that tell sites apart: without those that c10d, NCCL and
/// autograd put around everything they do.
[[nodiscard]] std::vector<std::string> telling_names(const std::vector<std::string>& names);

/// How alike the names of call sites are, judged by the words in them, where a word counts the more the fewer sites
/// have it. "## all2all_data:kjt splits ##" and "## SplitsAllToAllAwaitable wait() ##" share "splits".
class NameAffinity {
 public:
  /// All sites to be compared, each with its telling names.
  explicit NameAffinity(std::span<const std::vector<std::string>> sites);

  /// Between 0 and 1, for two of the sites by their place in the list.
  [[nodiscard]] double operator()(std::size_t a, std::size_t b) const;

 private:
  struct Word {
    std::size_t number;
    double weight;
  };
  std::vector<std::vector<Word>> words_of_;  ///< sorted by number
};

}  // namespace interlace::graph
