#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "simulator/base/id.hpp"
#include "simulator/explain/run.hpp"

namespace interlace::explain {

/// A work of the training loop, whatever the run, the rank and the step: the n-th of its name in its stage.
using NameId = Id<struct WorkNameTag>;

struct WorkName {
  std::string stage;          ///< "backward[ebc:update]"; "" for work in no known stage
  std::string module;         ///< of the stage; "" where it has none
  std::string operation;      ///< the kernel's name; "" for what the host does
  std::uint32_t ordinal = 0;  ///< among the works of this name that the stage launches for one batch
};

/// By operation of a run's trace; none for what is no device work.
using NamedWork = std::vector<std::optional<NameId>>;

/// Gives works of several runs their common names.
class WorkNames {
 public:
  [[nodiscard]] NamedWork name_device_work(const Run& run);
  /// Two runs may count a work to different stages (of an exchange, to the lookup or to its own). Gives names of
  /// `other` that `one` lacks the names of works of the same operation that only `one` has, in their order: of the same
  /// module, else of the same stage of any module.
  void join_across_stages(const NamedWork& one, NamedWork& other) const;
  /// What the host does in this stage.
  [[nodiscard]] NameId host_in(std::string_view stage);
  [[nodiscard]] const WorkName& operator[](NameId id) const { return names_[id.index()]; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  NameId intern(WorkName name);

  std::vector<WorkName> names_;
  std::map<std::tuple<std::string, std::string, std::uint32_t>, NameId> ids_;
};

/// "backward[ebc:update]" of what ran there; "" where that is not known.
[[nodiscard]] std::string stage_text(const trace_check::StagedWork& staged, trace::OperationId op);

}  // namespace interlace::explain
