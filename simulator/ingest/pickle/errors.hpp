#pragma once

#include "simulator/base/error.hpp"

namespace interlace::ingest::pickle {

inline constexpr ErrorCode kMalformed{"pickle.malformed"};
inline constexpr ErrorCode kNewerProtocol{"pickle.newer_protocol"};
inline constexpr ErrorCode kRefusedOpcode{"pickle.refused_opcode"};
inline constexpr ErrorCode kTooDeep{"pickle.too_deep"};
inline constexpr ErrorCode kTooLarge{"pickle.too_large"};
inline constexpr ErrorCode kTruncated{"pickle.truncated"};

}  // namespace interlace::ingest::pickle
