#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "simulator/base/interval.hpp"
#include "simulator/replay/gatherings.hpp"
#include "simulator/replay/sites.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// Ns that a jagged exchange takes at least: none is faster than the pooled ones, of this bandwidth in bytes a
/// nanosecond (0: unknown), and all must start.
[[nodiscard]] double least_time(Bytes bytes, double pooled_bandwidth);

/// Ns by iteration from the last arrival to the last end, less what others took of it.
using WholeTransfers = std::map<std::size_t, double>;

/// Exchanges of jagged inputs differ from batch to batch: by their bytes, and more by where the parts begin, as NCCL
/// moves sixteen bytes at once only where they begin at a multiple of that. So each takes its own time.
///
/// By direct links most run beside other kernels, though, and then a recorded start may mean that the first of their
/// CTAs found an SM, and all are taken to need the same. (Through host memory the way there is what limits them.) By
/// themselves they take what their bytes and the places of their parts ask for, in the mean over the batches, unless
/// they were recorded to take less; what they took longer is the crowd's doing. Where the recording does not tell those
/// places, they reached at least half of the pooled ones' bandwidth (base of c6, n6 and t2), unless the recording shows
/// one that did not; and one reaches what another of the same job does.
class JaggedExchanges {
 public:
  /// `pooled_bandwidth`: bytes a nanosecond of the best pooled exchange; 0: there is none.
  JaggedExchanges(const trace::Trace& trace, SiteTable& table, double pooled_bandwidth);

  void add(SiteId id, const GatheringsOfSite& gatherings, const WholeTransfers& transfers);
  /// To be called when all have been added.
  void free_crowded() const;
  /// Ns by which they take longer a step, by themselves, than if all their parts began at multiples of sixteen bytes; 0
  /// where the recording does not tell where these begin. To be called when all have been added.
  [[nodiscard]] double lost_to_uneven_parts() const;

 private:
  /// Which parts of an exchange begin at other than multiples of sixteen bytes, on any rank.
  enum class Uneven { kNone, kOwn, kSent };
  static constexpr std::size_t kKinds = 3;
  using ByKind = std::array<std::vector<double>, kKinds>;
  struct Added {
    SiteId site;
    bool is_crowded = false;
    std::optional<ByKind> times;  ///< none where the recording does not tell which are uneven
  };

  [[nodiscard]] std::optional<Uneven> uneven_parts(const Gathering& gathering) const;
  [[nodiscard]] bool has_company(const Gathering& gathering) const;
  [[nodiscard]] WholeTransfers times_alone(SiteId id, const GatheringsOfSite& gatherings,
                                           const WholeTransfers& transfers) const;
  void learn_rates(const Added& alone, const WholeTransfers& times);
  [[nodiscard]] std::optional<ByKind> by_kind(const GatheringsOfSite& gatherings,
                                              const WholeTransfers& transfers) const;
  [[nodiscard]] double rate(Uneven kind, const Site& site) const;
  [[nodiscard]] double needed(Uneven kind, const Site& site) const;
  void set_part(SiteId site, std::size_t iteration, double part) const;
  void free_by_kind(Site& site, const ByKind& times) const;
  static void free_unknown(Site& site, double bandwidth);

  const trace::Trace* trace_;
  SiteTable* table_;
  std::vector<IntervalSet> kernels_;  ///< by rank
  double pooled_;
  double slowest_ = std::numeric_limits<double>::infinity();  ///< of jagged ones that stand by themselves
  double fastest_ = 0;
  ByKind rates_;  ///< of the same
  std::vector<Added> added_;
};

}  // namespace interlace::replay
