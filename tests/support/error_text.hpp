#pragma once

#include <functional>
#include <string>

#include "simulator/base/error.hpp"

namespace interlace::testing {

/// What the Error says that `act` throws; empty where it throws none.
inline std::string error_text(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace interlace::testing
