#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "simulator/ingest/kineto/events.hpp"

namespace interlace::ingest::kineto {

/// Turns the JSON text of events into an EventTable, by simdjson. One decoder serves one thread; it keeps its buffers.
class Decoder {
 public:
  Decoder();
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// objects: JSON objects with commas between them, at most 4 GB. first_byte: where they stand in the file (inflated),
  /// for diagnostics. Returns false where the text is not such a list; `table` then holds some of it and is void.
  [[nodiscard]] bool decode(std::string_view objects, std::size_t first_byte, EventTable& table);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace interlace::ingest::kineto
