#include "simulator/ingest/nsys/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <system_error>
#include <utility>

#include "simulator/base/error.hpp"
#include "simulator/ingest/nsys/errors.hpp"

namespace interlace::ingest::nsys {

namespace {

constexpr const char* kExportAgain = "copy the file again, or export it again: nsys export --type sqlite";

[[noreturn]] void throw_damaged(const std::string& place, std::string_view what) {
  throw Error(kDamaged, place, fmt::format("the database cannot be read: {}", what), kExportAgain);
}

/// A name of a file as a URI that asks for no lock and no journal: "immutable".
std::string uri_of(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (const char c : file.string()) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '_';
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

/// A name as SQL wants it between quotes of this kind.
std::string quoted(std::string_view name, char quote) {
  std::string text(1, quote);
  for (const char c : name) {
    if (c == quote) text += quote;
    text += c;
  }
  return text + quote;
}

sqlite3* open(const std::string& uri, const std::filesystem::path& file) {
  sqlite3* connection = nullptr;
  const int result =
      sqlite3_open_v2(uri.c_str(), &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  if (result == SQLITE_OK) return connection;
  sqlite3_close(connection);
  throw_damaged(file.string(), sqlite3_errstr(result));
}

}  // namespace

void Rows::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* connection) const { sqlite3_close(connection); }

bool Rows::next() {
  if (statement_ == nullptr) return false;
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_DONE) return false;
  if (result != SQLITE_ROW) throw_damaged(place_, sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
  if (rows_left_-- == 0) throw_damaged(place_, "a table has more rows than the file has room for");
  return true;
}

std::optional<std::int64_t> Rows::integer(std::size_t column) const {
  const int at = static_cast<int>(column);
  if (sqlite3_column_type(statement_.get(), at) != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_column_int64(statement_.get(), at);
}

std::optional<double> Rows::real(std::size_t column) const {
  const int at = static_cast<int>(column);
  if (sqlite3_column_type(statement_.get(), at) != SQLITE_FLOAT) return std::nullopt;
  return sqlite3_column_double(statement_.get(), at);
}

std::optional<std::string_view> Rows::text(std::size_t column) const {
  const int at = static_cast<int>(column);
  if (sqlite3_column_type(statement_.get(), at) != SQLITE_TEXT) return std::nullopt;
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), at));
  return std::string_view(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), at)));
}

Database::Database(std::string_view content, std::filesystem::path file)
    : file_(std::move(file)), bytes_(static_cast<std::int64_t>(content.size())), connection_(open(":memory:", file_)) {
  // It is not written to: the flag says so, the interface does not.
  auto* bytes = reinterpret_cast<unsigned char*>(const_cast<char*>(content.data()));
  if (sqlite3_deserialize(connection_.get(), "main", bytes, bytes_, bytes_, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) {
    fail(file_.string());
  }
  set_up();
}

Database::Database(std::filesystem::path file) : file_(std::move(file)), connection_(open(uri_of(file_), file_)) {
  std::error_code failure;
  bytes_ = static_cast<std::int64_t>(std::filesystem::file_size(file_, failure));
  if (failure) throw_damaged(file_.string(), failure.message());
  set_up();
}

void Database::set_up() {
  sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  Rows names = query(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT GLOB 'sqlite_*' "
      "ORDER BY name",
      file_.string());
  while (names.next()) tables_.emplace_back(names.text(0).value_or(""));
}

bool Database::has(std::string_view table) const { return std::ranges::binary_search(tables_, table); }

std::vector<std::string> Database::columns_of(std::string_view table) const {
  std::vector<std::string> columns;
  if (!has(table)) return columns;
  // Computed columns are not among these.
  Rows names = query(fmt::format("SELECT name FROM pragma_table_info({})", quoted(table, '\'')), file_.string());
  while (names.next()) columns.emplace_back(names.text(0).value_or(""));
  return columns;
}

std::int64_t Database::row_count(std::string_view table) const {
  Rows count = query(fmt::format("SELECT count(*) FROM {}", quoted(table, '"')), file_.string());
  return count.next() ? count.integer(0).value_or(0) : 0;
}

Rows Database::rows(std::string_view table, Columns columns, std::size_t required) const {
  if (!has(table)) return {nullptr, {}, 0};
  return query(fmt::format("SELECT {} FROM {}", list(table, columns, required), quoted(table, '"')),
               fmt::format("{}: {}", file_.string(), table));
}

Rows Database::distinct(std::string_view table, Columns columns, std::size_t required) const {
  if (!has(table)) return {nullptr, {}, 0};
  const std::string listed = list(table, columns, required);
  return query(fmt::format("SELECT DISTINCT {} FROM {} ORDER BY {}", listed, quoted(table, '"'), listed),
               fmt::format("{}: {}", file_.string(), table));
}

std::string Database::list(std::string_view table, Columns columns, std::size_t required) const {
  const std::vector<std::string> there = columns_of(table);
  std::string listed;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool is_there = std::ranges::find(there, columns[i]) != there.end();
    if (!is_there && i < required) {
      throw Error(kUnknownSchema, fmt::format("{}: {}", file_.string(), table),
                  fmt::format("the table has no column {}", columns[i]),
                  "export the report with a version of Nsight Systems from 2021 or newer: nsys export --type sqlite");
    }
    listed += fmt::format("{}{}", i == 0 ? "" : ", ", is_there ? quoted(columns[i], '"') : "NULL");
  }
  return listed;
}

Rows Database::query(const std::string& sql, const std::string& place) const {
  sqlite3_stmt* statement = nullptr;
  const int result =
      sqlite3_prepare_v2(connection_.get(), sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr);
  if (result != SQLITE_OK) fail(place);
  return {Rows::Statement(statement), place, bytes_};
}

void Database::fail(const std::string& place) const { throw_damaged(place, sqlite3_errmsg(connection_.get())); }

}  // namespace interlace::ingest::nsys
