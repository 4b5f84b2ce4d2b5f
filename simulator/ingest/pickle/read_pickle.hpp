#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "simulator/ingest/pickle/tree.hpp"

namespace interlace::ingest::pickle {

/// Containers inside containers; what Python writes of its own data stays far below.
inline constexpr std::size_t kMaxDepth = 512;

/// Reads a pickle of protocol 0 to 5 that holds plain data: None, booleans, numbers, texts, bytes, lists, tuples, sets
/// and dictionaries. It is read in one pass, in time and memory in proportion to its size, and nothing of it is ever
/// carried out: an instruction that would import or call something is refused.
///
/// bytes: at most 4 GiB, which must outlive the tree; they may go on behind the pickle (Tree::bytes_used).
/// place: the file's name, for errors.
/// Throws Error: pickle.refused_opcode, pickle.truncated, pickle.malformed, pickle.newer_protocol, pickle.too_deep,
/// pickle.too_large; each names the byte.
[[nodiscard]] Tree read_pickle(std::string_view bytes, const std::string& place);

}  // namespace interlace::ingest::pickle
