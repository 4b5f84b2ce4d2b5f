#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace interlace::collector::hook {

/// Why the LibTorch that the program has loaded is not the one that this library was built for; empty where it is. Its
/// classes are laid out as the headers of its commit say, whichever CUDA it was built for.
/// library: one of its libraries, by soname.
[[nodiscard]] std::string misfit_of(const char* library);

/// Puts as much of the text as there is room for, and an end.
void say(char* why, std::size_t why_bytes, std::string_view text);

}  // namespace interlace::collector::hook
