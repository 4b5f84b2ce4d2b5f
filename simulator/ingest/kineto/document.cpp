#include "simulator/ingest/kineto/document.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <optional>
#include <span>

#include "simulator/ingest/kineto/decode.hpp"
#include "simulator/ingest/kineto/repair.hpp"
#include "simulator/ingest/kineto/scanner.hpp"

namespace interlace::ingest::kineto {

namespace {

[[noreturn]] void truncated(const std::filesystem::path& file, std::size_t size, std::size_t begun,
                            std::string_view what) {
  throw Error(kTruncated, fmt::format("{}: byte {}", file.string(), size),
              fmt::format("the JSON ends inside {} that begins at byte {} (bytes of the inflated text)", what, begun),
              "let the profiler finish writing, or copy the file again");
}

[[noreturn]] void not_a_trace(const std::filesystem::path& file, std::size_t at, std::string_view what) {
  throw Error(kNotATrace, fmt::format("{}: byte {}", file.string(), at), std::string(what),
              "name the JSON that torch.profiler's export_chrome_trace or tensorboard_trace_handler wrote");
}

/// Reads events one after another, for text that the fast way could not read. Stops at the end of traceEvents or at a
/// place where a later slice begins.
class CarefulReader {
 public:
  CarefulReader(std::string_view text, const std::filesystem::path& file) : text_(text), file_(file) {}

  struct Stop {
    std::size_t at = 0;
    bool is_end = false;  ///< of traceEvents: `at` is its ']'
  };

  /// slice_begins: sorted positions behind `from`.
  Stop read(std::size_t from, std::span<const std::size_t> slice_begins, EventTable& table) {
    Scanner scan(text_, from);
    while (true) {
      const auto next = scan.peek();
      if (!next) truncated(file_, text_.size(), from, "the list of events");
      const std::size_t at = scan.at();
      if (*next == ']') return {at, true};
      if (at > from && std::ranges::binary_search(slice_begins, at)) return {at, false};
      if (*next == ',') {
        scan.move_to(at + 1);
        continue;
      }
      scan.move_to(read_one(at, table));
    }
  }

 private:
  /// Reads the event at `begin`; where the next one, a comma or the list's end is to be expected.
  std::size_t read_one(std::size_t begin, EventTable& table) {
    Scanner scan(text_, begin);
    const auto value = scan.value();
    const auto behind = value ? scan.peek() : std::nullopt;
    // A '{': the comma is missing.
    if (behind && std::string_view(",]{").find(*behind) != std::string_view::npos) {
      if (decode(*value, begin, table)) return scan.at();
      const bool is_mended = decode(repair_event(*value), begin, table);
      // Without a mended event, the end that the scanner found can be trusted only where no other event stands inside.
      if (is_mended || likely_event(text_.substr(0, scan.at()), begin + 1) == std::nullopt) {
        (is_mended ? table.repaired : table.unreadable).add(begin);
        return scan.at();
      }
    }
    return read_damaged(begin, scan.at(), table);
  }

  /// The event at `begin` is damaged so that its end cannot be told; the next event's start and the list's end are
  /// known by their looks. scanned_to: how far its end was looked for in vain.
  std::size_t read_damaged(std::size_t begin, std::size_t scanned_to, EventTable& table) {
    const auto next = likely_event(text_, begin + 1);
    wasted_ += scanned_to - begin;
    const auto last = likely_events_end(text_, begin, next.value_or(text_.size()), wasted_);
    if (!next && !last) truncated(file_, text_.size(), begin, "an event");
    // Each such search may run through the rest of the file: with too many of them reading would take hours.
    if (wasted_ / 16 > text_.size() + kPatience) {
      throw Error(kTooDamaged, fmt::format("{}: byte {}", file_.string(), begin),
                  "too many events are broken JSON to go on", "record again");
    }
    const std::size_t end = last ? *last : text_.rfind(',', *next);
    const std::string_view damaged = text_.substr(begin, end - begin);
    if (decode(repair_event(damaged), begin, table)) {
      table.repaired.add(begin);
    } else {
      table.unreadable.add(begin);
    }
    return end;
  }

  bool decode(std::string_view event, std::size_t begin, EventTable& table) {
    if (!event.starts_with('{')) return false;
    // Tried on a table of its own first: a failure midway must leave no trace.
    EventTable trial;
    if (!decoder_.decode(event, begin, trial) || trial.events != 1) return false;
    return decoder_.decode(event, begin, table);
  }

  static constexpr std::size_t kPatience = std::size_t{1} << 20U;

  std::string_view text_;
  const std::filesystem::path& file_;
  Decoder decoder_;
  std::size_t wasted_ = 0;
};

std::vector<std::size_t> cut(std::string_view text, std::size_t begin, std::size_t slice_bytes) {
  std::vector<std::size_t> begins{begin};
  while (text.size() - begins.back() > slice_bytes) {
    const auto next = likely_event(text, begins.back() + slice_bytes);
    if (!next) break;
    begins.push_back(*next);
  }
  return begins;
}

/// Reads traceEvents, whose first byte behind '[' is `begin`; the position of its ']'.
std::size_t read_events(std::string_view text, const std::filesystem::path& file, std::size_t begin,
                        std::size_t slice_bytes, std::vector<EventTable>& slices) {
  const std::vector<std::size_t> begins = cut(text, begin, slice_bytes);
  std::vector<EventTable> tables(begins.size());
  std::vector<char> is_sound(begins.size(), 0);
  std::size_t list_end = text.size();
  tbb::enumerable_thread_specific<Decoder> decoders;
  // The last slice holds the list's end and what follows: its events are found by the careful reader's scanner.
  tbb::parallel_for(std::size_t{0}, begins.size(), [&](std::size_t i) {
    std::size_t end = text.size();
    if (i + 1 < begins.size()) {
      end = text.rfind(',', begins[i + 1]);
    } else {
      Scanner scan(text, begins[i]);
      end = begins[i];
      while (scan.peek() == '{' && scan.value()) {
        end = scan.at();  // a comma behind the last event, as some versions write, is not part of the slice
        if (!scan.accept(',')) break;
      }
      if (scan.peek() != ']') return;
      list_end = scan.at();
    }
    is_sound[i] = decoders.local().decode(text.substr(begins[i], end - begins[i]), begins[i], tables[i]) ? 1 : 0;
  });

  CarefulReader careful(text, file);
  std::size_t i = 0;
  while (i < begins.size()) {
    if (is_sound[i] != 0) {
      slices.push_back(std::move(tables[i++]));
      continue;
    }
    EventTable& table = slices.emplace_back();
    const CarefulReader::Stop stop = careful.read(begins[i], std::span(begins).subspan(i + 1), table);
    if (stop.is_end) return stop.at;
    i = static_cast<std::size_t>(std::ranges::lower_bound(begins, stop.at) - begins.begin());
  }
  return list_end;  // the last slice was sound
}

std::string unquoted(std::string_view text) { return std::string(text.substr(1, text.size() - 2)); }

}  // namespace

Document read_document(std::string_view text, const std::filesystem::path& file, std::size_t slice_bytes) {
  Document document;
  Scanner scan(text);
  if (!scan.accept('{')) not_a_trace(file, scan.at(), "a JSON object was expected");
  while (!scan.accept('}')) {
    if (!scan.peek()) truncated(file, text.size(), 0, "the object");
    const std::size_t begin = scan.at();
    if (scan.peek() != '"') not_a_trace(file, begin, "a field's name was expected");
    const auto key = scan.value();
    if (!key) truncated(file, text.size(), begin, "a field's name");
    if (!scan.accept(':')) {
      if (!scan.peek()) truncated(file, text.size(), begin, "a field");
      not_a_trace(file, scan.at(), "':' was expected");
    }
    if (*key == "\"traceEvents\"" && scan.accept('[')) {
      document.has_events = true;
      scan.move_to(read_events(text, file, scan.at(), slice_bytes, document.slices));
      scan.accept(']');
    } else {
      const auto value = scan.value();
      if (!value && scan.at_end()) truncated(file, text.size(), begin, "a field");
      if (!value) not_a_trace(file, scan.at(), "a value was expected");
      document.fields.insert_or_assign(unquoted(*key), std::string(*value));
    }
    if (scan.accept(',') || scan.peek() == '}') continue;
    if (!scan.peek()) truncated(file, text.size(), begin, "the field");
    not_a_trace(file, scan.at(), "',' or '}' was expected");
  }
  if (scan.peek()) document.trailing_bytes = text.size() - scan.at();
  return document;
}

}  // namespace interlace::ingest::kineto
