#include "simulator/report/json_text.hpp"

namespace interlace::report {

Json json_of(const analysis::OverlapSummary& overlap) {
  return Json{{"compute_ns", overlap.compute_ns},
              {"communication_ns", overlap.communication_ns},
              {"copy_ns", overlap.copy_ns},
              {"communication_hidden_ns", overlap.communication_hidden_ns},
              {"copy_hidden_ns", overlap.copy_hidden_ns},
              {"exposed_copy_ns", overlap.exposed_copy_ns},
              {"idle_ns", overlap.idle_ns},
              {"lookup_ns", or_null(overlap.lookup_ns)},
              {"lookup_hidden_ns", or_null(overlap.lookup_hidden_ns)},
              {"communication_hidden_ratio", or_null(overlap.communication_hidden_ratio())},
              {"copy_hidden_ratio", or_null(overlap.copy_hidden_ratio())},
              {"busy_ratio", or_null(overlap.busy_ratio())}};
}

Json json_of(std::span<const Diagnostic> diagnostics) {
  Json all = Json::array();
  for (const Diagnostic& found : diagnostics) {
    all.push_back(Json{{"code", found.code},
                       {"severity", to_string(found.severity)},
                       {"count", found.count},
                       {"meaning", found.meaning},
                       {"advice", found.advice},
                       {"first_place", found.first_place}});
  }
  return all;
}

std::string text_of(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace interlace::report
