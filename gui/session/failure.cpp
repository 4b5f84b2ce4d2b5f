#include "gui/session/failure.hpp"

#include <new>
#include <utility>

#include "simulator/base/error.hpp"
#include "simulator/replay/program.hpp"

namespace interlace::gui {

namespace {

/// Options of the command line are of no use here.
std::string advice_here(const Error& error) {
  if (error.code() != replay::kStageNotRecorded.name) return error.advice();
  return "record a schedule that runs it; on the command line, edits can give its duration";
}

}  // namespace

Failure failure_of(std::exception_ptr caught, std::string title, std::string place) {
  try {
    std::rethrow_exception(std::move(caught));
  } catch (const Error& error) {
    return {std::move(title), error.problem(), error.place(), advice_here(error), std::string(error.code())};
  } catch (const std::bad_alloc&) {
    return {std::move(title), "there is not enough memory", std::move(place),
            "open fewer ranks, or record a shorter span", ""};
  } catch (const std::exception& error) {
    return {std::move(title), error.what(), std::move(place), "", ""};
  }
}

std::string text_of(const Failure& failure) {
  std::string text = failure.problem;
  if (!failure.place.empty()) text += "\nWhere: " + failure.place;
  if (!failure.advice.empty()) text += "\nWhat to do: " + failure.advice;
  if (!failure.code.empty()) text += "\nCode: " + failure.code;
  return text;
}

}  // namespace interlace::gui
