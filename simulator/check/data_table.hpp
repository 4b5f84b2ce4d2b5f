#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "simulator/check/program.hpp"

namespace interlace::check {

/// What a stage touches: a resource, or a name of the schedule's own.
struct Touched {
  std::optional<schedule::Resource> resource;
  std::string name;

  [[nodiscard]] static Touched of(schedule::Resource resource) {
    return {resource, std::string(schedule::traits_of(resource).name)};
  }
};

/// Finds or makes the data of a program and follows which buffer holds each.
class DataTable {
 public:
  explicit DataTable(Program& program) : program_(&program) {}

  /// Those data that an operation for `module` (none: for all modules) touches of one batch.
  [[nodiscard]] std::vector<DatumIndex> data_of(const Touched& touched, std::int64_t batch,
                                                std::optional<std::uint32_t> module);
  [[nodiscard]] DatumIndex host_copy(StageIndex stage, std::int64_t batch);

  /// Enters the accesses of an operation into the buffers. Writes of a batch's data take new memory from its pool.
  void enter(OperationIndex operation, const std::vector<LaneIndex>& recorded);
  /// Takes the buffer from its datum; none where the datum has none.
  [[nodiscard]] std::optional<BufferIndex> free(DatumIndex datum);

 private:
  [[nodiscard]] DatumIndex intern(const Datum& datum);
  void read(DatumIndex datum, OperationIndex operation);
  void write(DatumIndex datum, OperationIndex operation, const std::vector<LaneIndex>& recorded);
  BufferIndex new_buffer(DatumIndex datum, std::optional<OperationIndex> maker, LaneIndex pool);

  Program* program_;
  std::map<Datum, DatumIndex> known_;
  std::map<DatumIndex, BufferIndex> held_;   ///< the newest buffer of each
  std::map<DatumIndex, BufferIndex> freed_;  ///< by name, and not written since
};

}  // namespace interlace::check
