#include "simulator/ingest/nsys/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "simulator/ingest/nsys/flaws.hpp"
#include "simulator/ingest/nsys/range_name.hpp"
#include "simulator/trace/nvtx_domains.hpp"

namespace interlace::ingest::nsys {

namespace {

using trace::RangeKind;

class RangeReader {
 public:
  RangeReader(const Database& database, Placement& placement)
      : database_(database), placement_(placement), is_annotated_(placement.rank_count()) {}

  void add() {
    read_names();
    Rows rows = database_.rows(kRanges, kColumns, kRequired);
    while (rows.next()) add_range(rows);
    placement_.count(kNoAnnotations, std::ranges::count(is_annotated_, false));
  }

  /// Both tables of overhead hold what the driver took, such as loading a module, and what recording it took.
  void add_overhead(std::string_view table) {
    static constexpr std::array<std::string_view, 5> kOverheadColumns{"start", "end", "globalTid", "nameId",
                                                                      "overheadType"};
    Rows rows = database_.rows(table, kOverheadColumns, 3);
    while (rows.next()) {
      const auto thread = rows.integer(2);
      const Placement::Owner* const owner = placement_.owner(thread);
      if (owner == nullptr) continue;
      const auto all = placement_.common(placement_.thread(*owner, *thread),
                                         placement_.builder().intern(placement_.text(rows.integer(3))), rows.integer(0),
                                         rows.integer(1));
      trace::RangeDetail detail;
      detail.kind = is_of_driver(rows.integer(4)) ? RangeKind::kOther : RangeKind::kProfilerOverhead;
      if (all) placement_.builder().add_range(*all, detail);
    }
  }

 private:
  /// Of ENUM_NSYS_EVENT_TYPE, those of NVTX and of files in the text format of NVTX.
  enum EventType : std::int64_t {
    kCategory = 33,
    kMark = 34,
    kPushPop = 59,
    kStartEnd = 60,
    kTextCategory = 64,
    kTextMark = 65,
    kTextPushPop = 70,
    kTextStartEnd = 71,
    kDomainCreate = 75,
  };

  /// The columns of NVTX_EVENTS.
  enum RangeColumn : std::size_t {
    kStart,
    kType,
    kThread,
    kEnd,
    kText,
    kTextId,
    kDomain,
    kCategoryNumber,
    kInt64,
    kUint64,
    kInt32,
    kUint32,
    kDouble,
    kFloat,
    kEndThread,
  };
  static constexpr std::array<std::string_view, 15> kColumns{
      "start",      "eventType",   "globalTid",  "end",         "text",        "textId",     "domainId",    "category",
      "int64Value", "uint64Value", "int32Value", "uint32Value", "doubleValue", "floatValue", "endGlobalTid"};
  static constexpr std::size_t kRequired = 3;

  /// A domain of a process, by its number; a category of one.
  using DomainKey = std::pair<std::int64_t, std::int64_t>;
  using CategoryKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

  /// Of ENUM_CUPTI_OVERHEAD_TYPE: compiling, loading modules and functions, a full queue.
  static bool is_of_driver(std::optional<std::int64_t> type) {
    static constexpr std::array<std::int64_t, 4> kOfDriver{2, 6, 7, 8};
    return type && std::ranges::find(kOfDriver, *type) != kOfDriver.end();
  }

  std::string_view text_of(const Rows& rows) {
    const auto text = rows.text(kText);
    if (text) return *text;
    const auto id = rows.integer(kTextId);
    return id ? placement_.text(id) : std::string_view();
  }

  /// Domains and categories, which may stand behind the ranges that are in them.
  void read_names() {
    static_assert(kCategory == 33 && kTextCategory == 64 && kDomainCreate == 75);
    Rows rows = database_.rows(kRanges, kColumns, kRequired, "eventType IN (33, 64, 75)");
    while (rows.next()) {
      const std::int64_t type = rows.integer(kType).value_or(0);
      const std::int64_t process = process_part(rows.integer(kThread).value_or(0));
      const std::int64_t domain = rows.integer(kDomain).value_or(0);
      if (type != kDomainCreate) {
        categories_[{process, domain, rows.integer(kCategoryNumber).value_or(0)}] = text_of(rows);
      } else if (trace::is_library_domain(text_of(rows))) {
        library_domains_.insert({process, domain});
      }
    }
  }

  void add_range(const Rows& rows) {
    const std::int64_t type = rows.integer(kType).value_or(0);
    const bool is_mark = type == kMark || type == kTextMark;
    const bool is_range = type == kPushPop || type == kStartEnd || type == kTextPushPop || type == kTextStartEnd;
    if (!is_mark && !is_range) return;  // names of threads, domains and categories
    const auto thread = rows.integer(kThread);
    const Placement::Owner* const owner = placement_.owner(thread);
    if (owner == nullptr) return;

    const std::int64_t process = process_part(*thread);
    const std::int64_t domain = rows.integer(kDomain).value_or(0);
    const std::string_view text = text_of(rows);
    const RangeName name = range_name(text);
    trace::Note note = note_of(rows, {process, domain, rows.integer(kCategoryNumber).value_or(0)});
    const auto start = rows.integer(kStart);
    const auto end = rows.integer(kEnd);
    note.is_open = is_range && !end;
    auto all = placement_.common(placement_.thread(*owner, *thread), placement_.builder().intern(name.name), start,
                                 is_mark || !end ? start : end);
    if (!all) return;
    if (note.is_open) placement_.count(kOpenRange);
    if (note != trace::Note{}) all->note = &note;
    trace::RangeDetail detail;
    // One that ends on another thread does not divide what this one did.
    const bool is_across = rows.integer(kEndThread).value_or(0) > 0 && rows.integer(kEndThread) != thread;
    const bool divides = !is_of_library({process, domain}, text) && !note.is_open && !is_across;
    detail.kind = divides ? name.kind : RangeKind::kOther;
    detail.sequence_number = name.sequence_number;
    placement_.builder().add_range(*all, detail);
    if (detail.kind == RangeKind::kAnnotation) is_annotated_[owner->rank.index()] = true;
  }

  /// Of a recording that began late, the names of domains are not in the export.
  [[nodiscard]] bool is_of_library(const DomainKey& domain, std::string_view text) const {
    return library_domains_.contains(domain) ||
           (domain.second != 0 && (text.starts_with("nccl") || text.find("::") != std::string_view::npos));
  }

  trace::Note note_of(const Rows& rows, const CategoryKey& category) {
    trace::Note note;
    if (std::get<2>(category) != 0) {
      const auto known = categories_.find(category);
      note.category = placement_.builder().intern(
          known == categories_.end() ? fmt::format("category {}", std::get<2>(category)) : known->second);
    }
    for (const std::size_t column : {kInt64, kInt32}) {
      if (const auto value = rows.integer(column))
        note.payload = {trace::NumberType::kInt64, static_cast<std::uint64_t>(*value)};
    }
    for (const std::size_t column : {kUint64, kUint32}) {
      if (const auto value = rows.integer(column))
        note.payload = {trace::NumberType::kUint64, static_cast<std::uint64_t>(*value)};
    }
    for (const std::size_t column : {kDouble, kFloat}) {
      if (const auto value = rows.real(column))
        note.payload = {trace::NumberType::kDouble, std::bit_cast<std::uint64_t>(*value)};
    }
    return note;
  }

  const Database& database_;
  Placement& placement_;
  std::set<DomainKey> library_domains_;
  std::map<CategoryKey, std::string> categories_;
  std::vector<bool> is_annotated_;  ///< a rank: whether it has ranges that divide it
};

}  // namespace

void add_ranges(const Database& database, Placement& placement) {
  RangeReader reader(database, placement);
  reader.add();
  reader.add_overhead(kOverhead);
  reader.add_overhead(kProfilerOverhead);
}

}  // namespace interlace::ingest::nsys
