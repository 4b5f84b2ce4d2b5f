#include "engine/workload/workload.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

namespace interlace::engine {

namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr std::int64_t kMost = std::int64_t{1} << 40;
constexpr std::array<std::pair<std::string_view, Sharding>, 3> kShardings = {
    {{"table_wise", Sharding::kTableWise}, {"row_wise", Sharding::kRowWise}, {"column_wise", Sharding::kColumnWise}}};
constexpr std::array<std::pair<std::string_view, TableOptimizer>, 2> kOptimizers = {
    {{"sgd", TableOptimizer::kSgd}, {"row_wise_adagrad", TableOptimizer::kRowWiseAdagrad}}};
constexpr std::array<std::pair<std::string_view, Activation>, 2> kActivations = {
    {{"relu", Activation::kRelu}, {"swish_layer_norm", Activation::kSwishLayerNorm}}};

// Takes the fields of one object; those left over at the end are refused.
class Fields {
 public:
  Fields(const Json& object, std::string place, const std::string& source)
      : object_(object), place_(std::move(place)), source_(source) {
    if (!object.is_object()) refuse("is no object");
  }

  [[noreturn]] void refuse(const std::string& problem) const {
    throw Error(kBadWorkload, source_, place_.empty() ? problem : place_ + " " + problem,
                "docs/engine.md lists the fields of a workload");
  }
  [[nodiscard]] bool has(const char* key) const { return object_.contains(key); }
  const Json& take(const char* key) {
    taken_.insert(key);
    if (!has(key)) refuse(std::string("lacks \"") + key + "\"");
    return object_.at(key);
  }
  std::string text(const char* key) {
    const Json& value = take(key);
    if (!value.is_string()) refuse(std::string("has a \"") + key + "\" that is no string");
    return value.get<std::string>();
  }
  std::int64_t whole(const char* key, std::int64_t low, std::int64_t high) {
    return whole_of(take(key), key, low, high);
  }
  std::int64_t whole(const char* key, std::int64_t low, std::int64_t high, std::int64_t otherwise) {
    return has(key) ? whole(key, low, high) : otherwise;
  }
  float number(const char* key, float otherwise) {
    if (!has(key)) return otherwise;
    const Json& value = take(key);
    if (!value.is_number()) refuse(std::string("has a \"") + key + "\" that is no number");
    return value.get<float>();
  }
  std::vector<std::int64_t> widths(const char* key) {
    std::vector<std::int64_t> widths;
    for (const Json& value : array(key)) widths.push_back(whole_of(value, key, 1, 1 << 20));
    return widths;
  }
  const Json& array(const char* key) {
    const Json& value = take(key);
    if (!value.is_array()) refuse(std::string("has a \"") + key + "\" that is no array");
    return value;
  }
  bool flag(const char* key) {
    const Json& value = take(key);
    if (!value.is_boolean()) refuse(std::string("has a \"") + key + "\" that is neither true nor false");
    return value.get<bool>();
  }
  template <class Value, std::size_t n>
  Value word(const char* key, const std::array<std::pair<std::string_view, Value>, n>& words) {
    const std::string given = text(key);
    std::string known;
    for (const auto& [word, value] : words) {
      if (word == given) return value;
      known += (known.empty() ? "" : ", ") + std::string(word);
    }
    refuse(std::string("has the ") + key + " \"" + given + "\"; known are " + known);
  }
  void finish() const {
    for (const auto& item : object_.items()) {
      if (!taken_.contains(item.key())) refuse("has an unknown field \"" + item.key() + "\"");
    }
  }

 private:
  std::int64_t whole_of(const Json& value, const char* key, std::int64_t low, std::int64_t high) const {
    if (!value.is_number_integer() || value.get<std::int64_t>() < low || value.get<std::int64_t>() > high) {
      refuse(std::string("has a \"") + key + "\" that is no whole number from " + std::to_string(low) + " to " +
             std::to_string(high));
    }
    return value.get<std::int64_t>();
  }

  const Json& object_;
  std::string place_;
  const std::string& source_;
  std::set<std::string> taken_;
};

ModuleSpec read_module(const Json& json, const std::string& place, const std::string& source) {
  Fields fields(json, place, source);
  ModuleSpec module{.name = fields.text("name"), .weighted = fields.flag("weighted"), .tables = {}};
  for (const Json& entry : fields.array("tables")) {
    Fields group(entry, "table group of module \"" + module.name + "\"", source);
    const TableSpec table{.rows = group.whole("rows", 1, kMost),
                          .dim = static_cast<std::int32_t>(group.whole("dim", 1, 8192)),
                          .pooling = static_cast<std::int32_t>(group.whole("pooling", 0, 100'000)),
                          .sharding = group.word("sharding", kShardings)};
    module.tables.insert(module.tables.end(), static_cast<std::size_t>(group.whole("count", 1, 100'000)), table);
    group.finish();
  }
  if (module.tables.empty()) fields.refuse("has no tables");
  fields.finish();
  return module;
}

DenseSpec read_dense(const Json& json, const std::string& source) {
  Fields fields(json, "dense", source);
  DenseSpec dense{.features = fields.whole("features", 1, 1 << 20),
                  .bottom = fields.widths("bottom"),
                  .over = fields.widths("over"),
                  .activation = fields.word("activation", kActivations)};
  fields.finish();
  return dense;
}

TableOptimizerSpec read_optimizer(const Json& json, const std::string& source) {
  Fields fields(json, "table_optimizer", source);
  TableOptimizerSpec optimizer;
  optimizer.kind = fields.word("kind", kOptimizers);
  optimizer.rate = fields.number("rate", optimizer.rate);
  optimizer.epsilon = fields.number("epsilon", optimizer.epsilon);
  fields.finish();
  return optimizer;
}

MessageSpec read_message(const Json& json, int ranks, const std::string& source) {
  Fields fields(json, "message", source);
  const MessageSpec message{.elements = fields.whole("elements", ranks, kMost),
                            .matrix = fields.whole("matrix", 1, 1 << 20),
                            .multiplications = fields.whole("multiplications", 0, 1 << 20)};
  fields.finish();
  return message;
}

// A row-wise table's ids come to its ranks without their places in the bags.
void check_feature_processors(const Workload& workload, const std::string& source) {
  if (!workload.feature_processors) return;
  const auto refuse = [&](const std::string& problem) {
    throw Error(kBadWorkload, source, problem, "leave the feature processors out, or take other tables");
  };
  if (workload.modules.empty()) refuse("feature processors need sharded modules");
  for (const ModuleSpec& module : workload.modules) {
    const bool row_wise =
        std::ranges::any_of(module.tables, [](const TableSpec& table) { return table.sharding == Sharding::kRowWise; });
    if (row_wise) refuse("feature processors cannot weigh the row-wise tables of module \"" + module.name + "\"");
  }
}

void read_model(Fields& fields, Workload& workload, const std::string& source) {
  workload.batch = fields.whole("batch", 1, kMostSamples);
  workload.distinct_batches = fields.whole("distinct_batches", 1, 1 << 20, 4);
  workload.dense = read_dense(fields.take("dense"), source);
  workload.dense_rate = fields.number("dense_rate", workload.dense_rate);
  workload.bucket_bytes = fields.whole("bucket_bytes", 1, kMost, workload.bucket_bytes);
  if (fields.has("modules")) {
    for (const Json& module : fields.array("modules")) {
      workload.modules.push_back(read_module(module, "module", source));
      const auto same = [&](const ModuleSpec& other) { return other.name == workload.modules.back().name; };
      if (std::ranges::count_if(workload.modules, same) > 1) {
        fields.refuse("has two modules \"" + workload.modules.back().name + "\"");
      }
    }
  }
  if (fields.has("data_parallel")) {
    workload.data_parallel = read_module(fields.take("data_parallel"), "data_parallel", source);
  }
  if (fields.has("feature_processors")) {
    workload.feature_processors = fields.flag("feature_processors");
    check_feature_processors(workload, source);
  }
  if (fields.has("table_optimizer")) {
    workload.table_optimizer = read_optimizer(fields.take("table_optimizer"), source);
  }
}

}  // namespace

Workload parse_workload(std::string_view text, const std::string& source) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    throw Error(kBadWorkload, source, error.what(), "mend the JSON");
  }
  Fields fields(json, "", source);
  fields.whole("interlace_workload", kVersion, kVersion);
  Workload workload;
  workload.name = fields.text("name");
  if (fields.has("description")) workload.description = fields.text("description");
  workload.ranks = static_cast<int>(fields.whole("ranks", 1, 4096));
  workload.steps = fields.whole("steps", 1, kMostSteps);
  workload.seed = static_cast<std::uint64_t>(fields.whole("seed", 0, kMost, 1));
  if (fields.has("message")) workload.message = read_message(fields.take("message"), workload.ranks, source);
  if (!workload.message || fields.has("dense")) read_model(fields, workload, source);
  fields.finish();
  return workload;
}

const WorkloadEntry& built_in_workload(const std::string& name) {
  std::string known;
  for (const WorkloadEntry& entry : workload_library()) {
    if (entry.name == name) return entry;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw Error(kUnknownWorkload, name, "no built-in workload has this name",
              "known are " + known + "; a file of your own ends in .json");
}

Workload load_workload(const std::string& name_or_file) {
  if (name_or_file.ends_with(".json")) {
    std::ifstream file(name_or_file);
    std::stringstream text;
    text << file.rdbuf();
    if (!file) throw Error(kUnknownWorkload, name_or_file, "cannot be read", "check its name and permissions");
    return parse_workload(text.str(), name_or_file);
  }
  return parse_workload(built_in_workload(name_or_file).text, "built-in " + name_or_file);
}

void change(Workload& workload, const WorkloadChanges& changes) {
  workload.ranks = changes.ranks.value_or(workload.ranks);
  if (workload.message && workload.message->elements < workload.ranks) {
    throw Error(kBadWorkload, "--ranks",
                "a message of " + std::to_string(workload.message->elements) + " elements has no part for each of " +
                    std::to_string(workload.ranks) + " ranks",
                "take fewer, or a workload with longer messages");
  }
  workload.steps = changes.steps.value_or(workload.steps);
  const std::int64_t batch = changes.batch.value_or(workload.batch);
  if (batch != workload.batch && (!workload.dense || batch < 1)) {
    throw Error(kBadWorkload, "--batch",
                workload.dense ? "a batch has at least one sample" : "\"" + workload.name + "\" has no samples",
                "leave it out");
  }
  workload.batch = batch;
  workload.feature_processors = workload.feature_processors || changes.feature_processors;
  if (changes.feature_processors) check_feature_processors(workload, "--feature-processor");
}

}  // namespace interlace::engine
