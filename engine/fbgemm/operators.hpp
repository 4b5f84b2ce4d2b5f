#pragma once

#include <ATen/core/ivalue.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace interlace::engine::fbgemm {

/// Loads the libraries of the package into this process, once. Throws engine.no_fbgemm.
void load_package();

using Arguments = std::map<std::string_view, c10::IValue>;

/// Calls fbgemm::<name>. Arguments are found by the names of the operator's schema, which grows from version to
/// version; those that are not given get its defaults. Throws engine.no_fbgemm where the operator is not there, or
/// wants more.
std::vector<c10::IValue> call(const std::string& name, const Arguments& arguments);

}  // namespace interlace::engine::fbgemm
