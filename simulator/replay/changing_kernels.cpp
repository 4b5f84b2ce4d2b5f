#include "simulator/replay/changing_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "simulator/base/statistics.hpp"

namespace interlace::replay {

namespace {

constexpr double kChangedBy = 2.0;       // times what it mostly takes
constexpr double kWorthAWarning = 0.01;  // of the kernels' time; 115 TorchRec recordings have 0.001, or 0.033 and more
constexpr std::size_t kEnoughInstances = 3;

/// For how long it ran by itself at least.
double by_itself_ns(const Observation& o) { return o.measured_ns - o.company_ns - o.covered_ns; }

}  // namespace

void ChangingKernels::see(const Site& site, const std::vector<Observation>& observations) {
  std::vector<std::vector<double>> times(ranks_.size());
  for (std::size_t i = 0; i < observations.size(); ++i) {
    times[trace_->rank_of(site.instances[i]).index()].push_back(observations[i].measured_ns);
  }
  std::vector<double> usual;
  for (const std::vector<double>& of_rank : times) {
    usual.push_back(of_rank.size() < kEnoughInstances ? 0.0 : statistics::median(of_rank));
  }
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const trace::OperationId op = site.instances[i];
    const std::size_t r = trace_->rank_of(op).index();
    OfRank& rank = ranks_[r];
    rank.all_ns += observations[i].measured_ns;
    if (usual[r] <= 0 || by_itself_ns(observations[i]) <= kChangedBy * usual[r]) continue;
    const double beyond = observations[i].measured_ns - usual[r];
    rank.beyond_ns += beyond;
    ++rank.changed;
    if (rank.most && beyond <= rank.most->took_ns - rank.most->usual_ns) continue;
    rank.most = Instance{op, observations[i].measured_ns, usual[r]};
  }
}

void ChangingKernels::count(Diagnostics& diagnostics) const {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const OfRank& rank = ranks_[r];
    if (!rank.most || rank.beyond_ns <= kWorthAWarning * rank.all_ns) continue;
    const std::string where =
        fmt::format("rank {}: {:.1f} % of its kernels' time, the most a {:.60} of {:.2f} ms, mostly {:.2f}",
                    trace_->ranks()[r].number, 100 * rank.beyond_ns / rank.all_ns, trace_->name(rank.most->op),
                    rank.most->took_ns / 1e6, rank.most->usual_ns / 1e6);
    diagnostics.count(kChangingKernels, where, rank.changed);
  }
}

}  // namespace interlace::replay
