#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace interlace::ingest::nsys {

/// Rows of one table.
class Rows {
 public:
  /// Goes to the next row; false behind the last. Throws nsys.damaged.
  [[nodiscard]] bool next();

  /// The value of a column, by its place among those that were asked for. None where the table lacks the column, or
  /// the value is NULL or of another type. (Tools that copy a table may write whole numbers as real ones.)
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t column) const;
  [[nodiscard]] std::optional<double> real(std::size_t column) const;
  /// Good until next().
  [[nodiscard]] std::optional<std::string_view> text(std::size_t column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;
  Rows(Statement statement, std::string place, std::int64_t most)
      : statement_(std::move(statement)), place_(std::move(place)), rows_left_(most) {}

  Statement statement_;
  std::string place_;
  std::int64_t rows_left_;  ///< a damaged file may lead in circles
};

/// An SQLite database that is only read: neither locked nor changed nor given a journal. Of a file from anywhere
/// nothing is executed: only ordinary tables and their stored columns are seen, no views, virtual tables or computed
/// columns.
class Database {
 public:
  using Columns = std::span<const std::string_view>;

  /// From the bytes of a file, which must outlive it. file: named in errors. Throws nsys.damaged.
  Database(std::string_view content, std::filesystem::path file);
  /// From a file on disk, of which only the tables that are asked for are read. Throws nsys.damaged.
  explicit Database(std::filesystem::path file);

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  /// Of ordinary tables (those with row ids), by name.
  [[nodiscard]] const std::vector<std::string>& tables() const { return tables_; }
  [[nodiscard]] bool has(std::string_view table) const;
  /// Stored ones, as the table has them.
  [[nodiscard]] std::vector<std::string> columns_of(std::string_view table) const;
  /// The largest row id, which is the number of rows where none was deleted; found without reading the table.
  [[nodiscard]] std::int64_t row_count(std::string_view table) const;

  /// The rows of a table, in any order; none of a table that is not there. The first `required` columns must be there.
  /// where: a condition of SQL that the rows fulfil. Throws nsys.unknown_schema, nsys.damaged.
  [[nodiscard]] Rows rows(std::string_view table, Columns columns, std::size_t required = 0,
                          std::string_view where = {}) const;
  /// The same, each combination of values once, ascending; behind the columns the sum of to - from over its rows, two
  /// columns, as a real number.
  [[nodiscard]] Rows sums(std::string_view table, Columns columns, std::string_view from, std::string_view to) const;

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  void set_up();
  [[nodiscard]] Rows query(const std::string& sql, const std::string& place) const;
  /// The columns with NULL in the place of those that are not there. Throws nsys.unknown_schema.
  [[nodiscard]] std::string list(std::string_view table, Columns columns, std::size_t required) const;
  [[noreturn]] void fail(const std::string& place) const;

  std::filesystem::path file_;
  std::int64_t bytes_ = 0;
  std::string own_copy_;  ///< of the content, where that had to be changed
  std::unique_ptr<sqlite3, Close> connection_;
  std::vector<std::string> tables_;
  std::vector<std::string> views_;
};

}  // namespace interlace::ingest::nsys
