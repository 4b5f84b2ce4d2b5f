#include "simulator/ingest/kineto/decode.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "simulator/ingest/kineto/classify.hpp"
#include "simulator/ingest/kineto/raw_event.hpp"
#include "simulator/trace/limits.hpp"

namespace interlace::ingest::kineto {

namespace {

namespace json = simdjson::ondemand;

/// The text of a scalar: a number as printed, a string without quotes and escapes. False where it is no valid JSON.
/// An array or object gives its first bracket, which no number parses from.
bool scalar_text(json::value value, std::string_view& text) {
  text = value.raw_json_token();
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  if (!text.starts_with('"')) return true;
  if (text.size() < 2 || !text.ends_with('"')) return false;
  if (std::memchr(text.data(), '\\', text.size()) != nullptr) return value.get_string().get(text) == simdjson::SUCCESS;
  text = text.substr(1, text.size() - 2);
  return true;
}

using Dimensions = std::array<std::int32_t, 3>;

bool read_dimensions(json::value value, const Dimensions& largest, Dimensions& dimensions) {
  json::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return false;
  std::size_t i = 0;
  for (auto element : array) {
    std::int64_t number = 0;
    if (element.get_int64().get(number) != simdjson::SUCCESS) return false;
    if (i < 3) dimensions[i] = static_cast<std::int32_t>(std::clamp<std::int64_t>(number, 1, largest[i]));
    ++i;
  }
  return true;
}

std::string_view key_text(json::raw_json_string key) {
  const char* const begin = key.raw();
  return {begin, static_cast<std::size_t>(std::strchr(begin, '"') - begin)};
}

bool is_object(json::value value) {
  json::json_type type{};
  return value.type().get(type) == simdjson::SUCCESS && type == json::json_type::object;
}

bool read_arguments(json::value value, RawEvent& event) {  // NOLINT(misc-no-recursion): one level, of "occupancy"
  if (!is_object(value)) return true;
  json::object arguments;
  if (value.get_object().get(arguments) != simdjson::SUCCESS) return false;
  for (auto field : arguments) {
    json::raw_json_string name;
    json::value argument;
    if (field.key().get(name) != simdjson::SUCCESS || field.value().get(argument) != simdjson::SUCCESS) return false;
    const Key key = argument_key(key_text(name));
    if (key == Key::kNone) continue;
    if (key == Key::kGrid || key == Key::kBlock) {
      const bool is_grid = key == Key::kGrid;
      if (!read_dimensions(argument, is_grid ? trace::kLargestGrid : trace::kLargestBlock,
                           is_grid ? event.grid : event.block)) {
        return false;
      }
    } else if (key == Key::kOccupancy) {
      if (!read_arguments(argument, event)) return false;
    } else {
      std::string_view text;
      if (!scalar_text(argument, text)) return false;
      event.set(key, text);
    }
  }
  return true;
}

bool read_event(json::object object, RawEvent& event) {
  for (auto field : object) {
    json::raw_json_string name;
    json::value value;
    if (field.key().get(name) != simdjson::SUCCESS || field.value().get(value) != simdjson::SUCCESS) return false;
    const Key key = event_key(key_text(name));
    if (key == Key::kNone) continue;
    if (key == Key::kArgs) {
      if (!read_arguments(value, event)) return false;
    } else {
      std::string_view text;
      if (!scalar_text(value, text)) return false;
      event.set(key, text);
    }
  }
  return true;
}

}  // namespace

struct Decoder::State {
  json::parser parser;
  std::vector<char> buffer;
  RawEvent event;
};

Decoder::Decoder() : state_(std::make_unique<State>()) {}
Decoder::~Decoder() = default;

bool Decoder::decode(std::string_view objects, std::size_t first_byte, EventTable& table) {
  // simdjson wants a whole document, and readable bytes behind it.
  std::vector<char>& buffer = state_->buffer;
  const std::size_t length = objects.size() + 2;
  if (buffer.size() < length + simdjson::SIMDJSON_PADDING) buffer.resize(length + simdjson::SIMDJSON_PADDING);
  buffer[0] = '[';
  std::memcpy(buffer.data() + 1, objects.data(), objects.size());
  buffer[length - 1] = ']';
  std::memset(buffer.data() + length, ' ', simdjson::SIMDJSON_PADDING);

  json::document document;
  json::array events;
  if (state_->parser.iterate(buffer.data(), length, buffer.size()).get(document) != simdjson::SUCCESS ||
      document.get_array().get(events) != simdjson::SUCCESS) {
    return false;
  }
  for (auto element : events) {
    json::value value;
    json::object object;
    if (element.get(value) != simdjson::SUCCESS) return false;
    const char* const here = value.raw_json_token().data();
    if (value.get_object().get(object) != simdjson::SUCCESS) return false;
    state_->event.clear();
    if (!read_event(object, state_->event)) return false;
    classify(state_->event, first_byte + static_cast<std::size_t>(here - buffer.data()) - 1, table);
  }
  // What follows the list's end would be lost: the text was not one list.
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

}  // namespace interlace::ingest::kineto
