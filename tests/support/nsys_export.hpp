#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "simulator/trace/trace.hpp"

struct sqlite3;

namespace interlace::testing {

/// Writes a small export of Nsight Systems, with the tables and columns of its schema 3.25. What a test leaves out is
/// NULL.
class NsysExport {
 public:
  NsysExport();

  using Value = std::variant<std::nullptr_t, std::int64_t, double, std::string_view>;
  struct Cell {
    std::string_view column;
    Value value;
  };
  NsysExport& row(std::string_view table, std::initializer_list<Cell> cells);
  NsysExport& sql(const std::string& statement);
  /// The number of a text in StringIds.
  std::int64_t text(std::string_view text);

  /// Of the process that the short forms below write: a thread with the number of the process, device 0, context 1.
  static constexpr std::int64_t kPid = 100;
  static constexpr std::int64_t global(std::int64_t pid, std::int64_t thread = 0) {
    return (std::int64_t{1} << 48) | (pid << 24) | thread;
  }
  NsysExport& call(std::string_view name, std::int64_t start, std::int64_t end, std::int64_t correlation);
  NsysExport& kernel(std::string_view name, std::int64_t stream, std::int64_t start, std::int64_t end,
                     std::int64_t correlation);
  NsysExport& range(std::string_view text, std::int64_t start, std::int64_t end);

  /// The bytes of the database.
  [[nodiscard]] std::string bytes() const;

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  std::unique_ptr<sqlite3, Close> connection_;
  std::map<std::string, std::int64_t, std::less<>> texts_;
};

/// The export that Nsight Systems would have made of a run in emit_nvtx(), as far as its format goes: no collectives'
/// sizes and groups, no allocations, Python frames, ranges of devices or arrows from forward to backward.
[[nodiscard]] std::string nsys_export_of(const trace::Trace& trace);

}  // namespace interlace::testing
