#include "engine/runtime/failure.hpp"

#include <new>

namespace interlace::engine {

std::string place_of(int rank, const std::string& range) {
  const std::string place = "rank " + std::to_string(rank);
  return range.empty() ? place : place + ", " + range;
}

Error placed(const std::exception_ptr& failure, const std::string& place) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    const std::string whole = error.place().empty() ? place : place + ", " + error.place();
    return {ErrorCode{error.code()}, whole, error.problem(), error.advice()};
  } catch (const std::bad_alloc&) {
    return {kOutOfMemory, place, "out of memory", "take smaller tables or batches, or more ranks"};
  } catch (const std::exception& error) {
    return {kInternal, place, error.what(), "please report this"};
  }
}

}  // namespace interlace::engine
