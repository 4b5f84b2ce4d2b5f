#include "simulator/ingest/nsys/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <cmath>
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

/// Where a program has the file open, or died with it open, a part of what it wrote is not in the file itself.
void check_is_complete(const std::filesystem::path& file) {
  for (const char* const ending : {"-wal", "-journal"}) {
    std::error_code none;
    const std::filesystem::path beside = file.string() + ending;
    const auto bytes = std::filesystem::file_size(beside, none);
    if (none || bytes == 0) continue;
    throw Error(kDamaged, file.string(),
                fmt::format("changes that are not in it lie beside it, in {}", beside.string()),
                "close the program that has it open, or export it again: nsys export --type sqlite");
  }
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
  const int type = sqlite3_column_type(statement_.get(), at);
  if (type == SQLITE_INTEGER) return sqlite3_column_int64(statement_.get(), at);
  if (type != SQLITE_FLOAT) return std::nullopt;
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const double value = sqlite3_column_double(statement_.get(), at);
  return std::abs(value) < kExact && std::trunc(value) == value ? std::optional(static_cast<std::int64_t>(value))
                                                                : std::nullopt;
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
  // A file whose header asks for write-ahead logging can be read as it is, but not from memory.
  constexpr std::size_t kWriteVersion = 18;
  constexpr std::size_t kReadVersion = 19;
  constexpr char kJournal = 1;
  if (content.size() > kReadVersion && (content[kWriteVersion] != kJournal || content[kReadVersion] != kJournal)) {
    own_copy_ = content;
    own_copy_[kWriteVersion] = own_copy_[kReadVersion] = kJournal;
    content = own_copy_;
  }
  // It is not written to: the flag says so, the interface does not.
  auto* bytes = reinterpret_cast<unsigned char*>(const_cast<char*>(content.data()));
  if (sqlite3_deserialize(connection_.get(), "main", bytes, bytes_, bytes_, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) {
    fail(file_.string());
  }
  set_up();
}

Database::Database(std::filesystem::path file) : file_(std::move(file)), connection_(open(uri_of(file_), file_)) {
  check_is_complete(file_);
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
      "SELECT name, type = 'view' FROM pragma_table_list WHERE schema = 'main' AND name NOT GLOB 'sqlite_*' "
      "AND (type = 'view' OR (type = 'table' AND wr = 0)) ORDER BY name",
      file_.string());
  while (names.next()) (names.integer(1) == 1 ? views_ : tables_).emplace_back(names.text(0).value_or(""));
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
  Rows count = query(fmt::format("SELECT max(rowid) FROM {}", quoted(table, '"')), file_.string());
  return count.next() ? count.integer(0).value_or(0) : 0;
}

Rows Database::rows(std::string_view table, Columns columns, std::size_t required, std::string_view where) const {
  const std::string place = fmt::format("{}: {}", file_.string(), table);
  if (std::ranges::binary_search(views_, table)) {
    throw Error(kUnknownSchema, place, "it is a view, and views are not read",
                "store its rows as a table of that name");
  }
  if (!has(table)) return {nullptr, {}, 0};
  return query(fmt::format("SELECT {} FROM {}{}{}", list(table, columns, required), quoted(table, '"'),
                           where.empty() ? "" : " WHERE ", where),
               place);
}

Rows Database::sums(std::string_view table, Columns columns, std::string_view from, std::string_view to) const {
  if (!has(table)) return {nullptr, {}, 0};
  const std::string listed = list(table, columns, 0);
  return query(fmt::format("SELECT {}, total(max(0, {} - {})) FROM {} GROUP BY {} ORDER BY {}", listed,
                           list(table, {&to, 1}, 0), list(table, {&from, 1}, 0), quoted(table, '"'), listed, listed),
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
                  "export the report again: nsys export --type sqlite");
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
