#include "engine/runtime/profile.hpp"

#include <algorithm>
#include <utility>

namespace interlace::engine {

namespace {

double seconds_since(Profile::Clock::time_point began) {
  return std::chrono::duration<double>(Profile::Clock::now() - began).count();
}

}  // namespace

std::size_t Profile::begin(std::string kind, std::string name, Device& device, StreamId stream) {
  pieces_.push_back({.kind = std::move(kind),
                     .name = std::move(name),
                     .stream = stream,
                     .host_began = Clock::now(),
                     .began = device.record_time(stream),
                     .ended = nullptr});
  return pieces_.size() - 1;
}

void Profile::end(std::size_t piece, Device& device) {
  pieces_[piece].ended = device.record_time(pieces_[piece].stream);
  pieces_[piece].host_seconds = seconds_since(pieces_[piece].host_began);
}

void Profile::add_host(const char* name, Clock::time_point began) {
  pieces_.push_back({.kind = "host",
                     .name = name,
                     .stream = {},
                     .host_began = began,
                     .host_seconds = seconds_since(began),
                     .began = nullptr,
                     .ended = nullptr});
}

std::vector<ProfileLine> Profile::lines(const Device& device) const {
  std::vector<ProfileLine> lines;
  for (const Piece& piece : pieces_) {
    auto line = std::ranges::find_if(
        lines, [&](const ProfileLine& known) { return known.kind == piece.kind && known.name == piece.name; });
    if (line == lines.end()) line = lines.insert(lines.end(), {.kind = piece.kind, .name = piece.name});
    ++line->count;
    line->host_seconds += piece.host_seconds;
    if (piece.began && piece.ended) line->device_seconds += device.seconds_between(piece.began, piece.ended);
  }
  return lines;
}

}  // namespace interlace::engine
