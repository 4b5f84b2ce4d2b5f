#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/step_checks.hpp"

namespace interlace::schedule {

namespace {

// A stage step with its place: what the checks below compare.
struct Placed {
  const StageStep* stage = nullptr;
  Position at;
  int line = 0;
  bool in_for_each = false;
};

std::string title(const StageStep& step) {
  std::string text = fmt::format("stage \"{}\"", to_string(step.stage));
  if (step.part) text += fmt::format(" ({})", to_string(*step.part));
  if (step.module) text += fmt::format(" of module \"{}\"", *step.module);
  return text;
}

// Stages that stand for whatever a model does there: as many of them as it has.
bool may_repeat(Stage stage) {
  return stage == Stage::kCompute || stage == Stage::kAllToAll || stage == Stage::kValidateOutput;
}

bool same_module(const StageStep& a, const StageStep& b) { return !a.module || !b.module || *a.module == *b.module; }

void check_repeats(const std::vector<Placed>& stages, std::vector<Problem>& problems) {
  for (auto later = stages.begin(); later != stages.end(); ++later) {
    if (may_repeat(later->stage->stage)) continue;
    const auto repeats = [&](const Placed& earlier) {
      return earlier.stage->stage == later->stage->stage && earlier.stage->part == later->stage->part &&
             same_module(*earlier.stage, *later->stage);
    };
    const auto earlier = std::find_if(stages.begin(), later, repeats);
    if (earlier == later) continue;
    problems.push_back(
        {kRepeatedStage, later->line,
         fmt::format("{}: stands in line {} already; an iteration runs each stage once, or once for each "
                     "named \"module\"",
                     title(*later->stage), earlier->line)});
  }
}

void check_updated_modules(const std::vector<const Placed*>& backward, const std::vector<std::string>& modules,
                           std::vector<Problem>& problems) {
  for (const std::string& module : modules) {
    const auto updates = [&](const Placed* placed) {
      return placed->stage->part == Part::kEmbedding && placed->stage->module.value_or(module) == module;
    };
    if (std::ranges::any_of(backward, updates)) continue;
    problems.push_back({kIncompleteBackward, backward.back()->line,
                        fmt::format(R"(stage "backward": no part "embedding" is of module "{}")", module)});
  }
}

// A lookup of all modules, whatever they are called, takes an update of all: which there are, only the model tells.
void check_update_of_all(const std::vector<Placed>& stages, const std::vector<const Placed*>& backward,
                         std::vector<Problem>& problems) {
  const auto of_all = [](const StageStep& step) { return !step.module; };
  const auto looks_up_all = [&](const Placed& placed) {
    return placed.stage->stage == Stage::kEmbeddingLookup && of_all(*placed.stage);
  };
  const auto updates_all = [&](const Placed* placed) {
    return placed->stage->part == Part::kEmbedding && of_all(*placed->stage);
  };
  if (std::ranges::none_of(stages, looks_up_all) || std::ranges::any_of(backward, updates_all)) return;
  problems.push_back({kIncompleteBackward, backward.back()->line,
                      R"(stage "backward": no part "embedding" is of all modules, as stage "embedding_lookup" is)"});
}

void check_backward(const std::vector<Placed>& stages, const std::vector<std::string>& modules,
                    std::vector<Problem>& problems) {
  std::vector<const Placed*> backward;
  for (const Placed& placed : stages) {
    if (placed.stage->stage == Stage::kBackward) backward.push_back(&placed);
  }
  const auto has = [&](std::optional<Part> part) {
    return std::ranges::any_of(backward, [&](const Placed* p) { return p->stage->part == part; });
  };
  if (backward.empty() || (!has(Part::kDense) && !has(Part::kEmbedding))) return;
  if (has(std::nullopt)) {
    problems.push_back({kIncompleteBackward, backward.back()->line,
                        R"(stage "backward": stands whole and in parts; name a "part" in each or in none)"});
  } else if (!has(Part::kDense) || !has(Part::kEmbedding)) {
    const Part missing = has(Part::kDense) ? Part::kEmbedding : Part::kDense;
    problems.push_back({kIncompleteBackward, backward.front()->line,
                        fmt::format(R"(stage "backward": part "{}" is missing)", to_string(missing))});
  } else {
    check_updated_modules(backward, modules, problems);
    check_update_of_all(stages, backward, problems);
  }
}

// The writers of something that concern one reader of it: not itself.
std::vector<const Placed*> writers_for(const Placed& reader, std::vector<const Placed*> writers) {
  std::erase_if(writers, [&](const Placed* writer) { return writer->stage == reader.stage; });
  return writers;
}

// A step of batch i+n works n iterations ahead, so the writer must have the farther batch, or the same and stand above.
bool precedes(const Placed& writer, const Placed& reader) {
  return writer.stage->batch > reader.stage->batch ||
         (writer.stage->batch == reader.stage->batch && writer.at < reader.at);
}

// `does`: what the user does with what the writer makes too late, in words.
Problem out_of_order(const Placed& user, const Placed& writer, std::string_view does) {
  const std::int32_t written = writer.stage->batch;
  const std::string reason = written == user.stage->batch ? fmt::format("makes only below, in line {}", writer.line)
                                                          : fmt::format("has made up to batch {} only (line {})",
                                                                        batch_word(written), writer.line);
  return {kBatchOrder, user.line,
          fmt::format("{}: {}, which {} {}", title(*user.stage), does, title(*writer.stage), reason)};
}

void check_order(const Placed& reader, const Placed& writer, std::string_view what, std::vector<Problem>& problems) {
  if (!precedes(writer, reader)) problems.push_back(out_of_order(reader, writer, fmt::format("reads {}", what)));
}

// Who writes what a step names may write it again below its reader, if somebody has written it above. What stages make
// by themselves must be whole: the lookup reads what feature_processor has weighed.
void check_order(const Placed& reader, const std::vector<const Placed*>& writers, std::optional<Resource> resource,
                 std::string_view what, std::vector<Problem>& problems) {
  const bool made = std::ranges::any_of(writers, [&](const Placed* writer) { return precedes(*writer, reader); });
  for (const Placed* writer : writers) {
    const auto own = effects_of(writer->stage->stage, writer->stage->part).writes;
    const bool by_itself = resource && std::ranges::find(own, *resource) != own.end();
    if (!made || by_itself) check_order(reader, *writer, what, problems);
  }
}

std::string_view usual_writer(Resource resource) {
  for (std::size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    const auto writes = effects_of(stage).writes;
    if (std::ranges::find(writes, resource) != writes.end()) return to_string(stage);
  }
  return to_string(Stage::kBackward);  // pooled_gradients, which only its part makes
}

// Of what sharded modules have each for itself, that of one; none where the steps name no modules.
void check_resource(Resource resource, const std::vector<Placed>& stages, const std::optional<std::string>& module,
                    std::vector<Problem>& problems) {
  const ResourceTraits& traits = traits_of(resource);
  std::vector<const Placed*> writers;
  std::vector<const Placed*> readers;
  for (const Placed& placed : stages) {
    const StageStep& step = *placed.stage;
    if (module && goes_module_by_module(step) && step.module.value_or(*module) != *module) continue;
    const auto writes = writes_of(*placed.stage);
    const auto reads = reads_of(*placed.stage);
    if (std::ranges::find(writes, resource) != writes.end()) writers.push_back(&placed);
    if (std::ranges::find(reads, resource, &Read::resource) != reads.end()) readers.push_back(&placed);
  }
  const auto what_of = [&](const Placed& step) {
    return fmt::format("{}({}){}", traits.name, batch_word(step.stage->batch),
                       module && !step.stage->module ? fmt::format(" of module \"{}\"", *module) : "");
  };
  for (const Placed* reader : readers) {
    const auto reads = reads_of(*reader->stage);
    const bool required = std::ranges::find(reads, resource, &Read::resource)->required;
    const auto matching = writers_for(*reader, writers);
    if (required && matching.empty()) {
      problems.push_back({kMissingStage, reader->line,
                          fmt::format("{}: reads {}, which no step makes; add stage \"{}\"", title(*reader->stage),
                                      what_of(*reader), usual_writer(resource))});
    }
    check_order(*reader, matching, resource, what_of(*reader), problems);
  }
  if (!traits.must_be_read || !readers.empty()) return;
  for (const Placed* writer : writers) {
    problems.push_back({kMissingStage, writer->line,
                        fmt::format("{}: makes {}, which no step takes up", title(*writer->stage), what_of(*writer))});
  }
}

void check_named_data(const std::vector<Placed>& stages, std::vector<Problem>& problems) {
  for (const Placed& reader : stages) {
    for (const std::string& name : reader.stage->reads) {
      if (resource_named(name)) continue;
      std::vector<const Placed*> writers;
      for (const Placed& placed : stages) {
        if (std::ranges::find(placed.stage->writes, name) != placed.stage->writes.end()) writers.push_back(&placed);
      }
      const auto matching = writers_for(reader, writers);
      if (matching.empty()) {
        problems.push_back({kMissingStage, reader.line,
                            fmt::format("{}: reads \"{}\", which no other step writes", title(*reader.stage), name)});
      }
      check_order(reader, matching, std::nullopt,
                  fmt::format("\"{}\" of batch {}", name, batch_word(reader.stage->batch)), problems);
    }
  }
}

// What is there from the start.
bool lives_on(const std::string& name) {
  const auto resource = resource_named(name);
  return resource && !traits_of(*resource).per_batch;
}

bool writes(const StageStep& step, const std::string& name) {
  const auto resource = resource_named(name);
  if (!resource) return std::ranges::find(step.writes, name) != step.writes.end();
  const auto resources = writes_of(step);
  return std::ranges::find(resources, *resource) != resources.end();
}

void check_frees(const std::vector<Placed>& stages, const Placed& placed, std::vector<Problem>& problems) {
  for (const std::string& name : placed.stage->frees) {
    if (lives_on(name)) continue;
    std::vector<const Placed*> writers;
    for (const Placed& other : stages) {
      if (writes(*other.stage, name)) writers.push_back(&other);
    }
    const auto is_made = [&](const Placed* writer) {
      return writer->stage == placed.stage || precedes(*writer, placed);
    };
    if (writers.empty()) {
      problems.push_back({kMissingStage, placed.line,
                          fmt::format("{}: frees \"{}\", which no step writes", title(*placed.stage), name)});
    } else if (std::ranges::none_of(writers, is_made)) {
      problems.push_back(out_of_order(placed, *writers.front(), fmt::format("frees \"{}\"", name)));
    }
  }
}

// Whether memory of the device is taken for what a step makes: what lives through the training is there already.
bool makes_results(const StageStep& step) {
  return step.stage != Stage::kNextBatch && step.stage != Stage::kZeroGrad && step.stage != Stage::kOptimizerStep;
}

void check_memory_words(const std::vector<Placed>& stages, const Placed& placed, std::vector<Problem>& problems) {
  const StageStep& step = *placed.stage;
  check_frees(stages, placed, problems);
  if (step.kept_until && step.kept_until->stage) {
    const Stage stage = *step.kept_until->stage;
    const auto is_it = [&](const Placed& p) { return p.stage->stage == stage; };
    if (std::ranges::none_of(stages, is_it)) {
      problems.push_back(
          {kMissingStage, placed.line,
           fmt::format("{}: is kept until stage \"{}\", which no step is", title(step), to_string(stage))});
    }
  }
  if (makes_results(step) || !step.writes.empty()) return;
  const auto refuse = [&](std::string_view word) {
    problems.push_back({kMisplacedField, placed.line,
                        fmt::format("{}: \"{}\" has no meaning for a step without results", title(step), word)});
  };
  if (step.alloc) refuse("alloc");
  if (step.kept_until) refuse("kept_until");
  if (!step.record_stream.empty() && step.frees.empty()) refuse("record_stream");
}

// A stage of the whole batch has no modules, neither by name nor one after the other: replay and engine would run a
// part of it, or all of it once for each.
void check_module(const Placed& placed, std::vector<Problem>& problems) {
  const StageStep& step = *placed.stage;
  if (goes_module_by_module(step) || names_its_own(step.stage)) return;
  const bool backward = step.stage == Stage::kBackward;
  const auto refuse = [&](std::string_view reason) {
    problems.push_back({kMisplacedField, placed.line, fmt::format("{}: {}", title(step), reason)});
  };
  if (step.module) {
    refuse(backward ? "only part \"embedding\" can be of one module"
                    : "does not go module by module, so that \"module\" has no meaning here");
  }
  if (placed.in_for_each) {
    refuse(backward ? "only part \"embedding\" can stand in \"for_each\""
                    : "does not go module by module, so that \"for_each\" has no meaning here");
  }
}

}  // namespace

void check_stages(const std::vector<PlacedStep>& steps, std::vector<Problem>& problems) {
  std::vector<Placed> stages;
  for (const PlacedStep& placed : steps) {
    if (const auto* stage = std::get_if<StageStep>(&placed.step->action)) {
      stages.push_back({stage, placed.at, placed.step->line, placed.in_for_each});
    }
  }
  check_repeats(stages, problems);
  const std::vector<std::string> modules = module_names(steps);
  check_backward(stages, modules, problems);
  for (std::size_t i = 0; i < kResources; ++i) {
    const auto resource = static_cast<Resource>(i);
    if (!traits_of(resource).per_batch) continue;
    if (modules.empty() || !traits_of(resource).per_module) {
      check_resource(resource, stages, std::nullopt, problems);
    } else {
      for (const std::string& module : modules) check_resource(resource, stages, module, problems);
    }
  }
  check_named_data(stages, problems);
  for (const Placed& placed : stages) {
    check_module(placed, problems);
    check_memory_words(stages, placed, problems);
  }
}

}  // namespace interlace::schedule
