#include "simulator/replay/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "simulator/replay/applicable.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"
#include "simulator/stages/bind.hpp"
#include "tests/support/events_of_modules.hpp"
#include "tests/unit/replay/recorded_sample.hpp"

namespace interlace::replay {
namespace {

using Kind = Instruction::Kind;
using schedule::Stage;

class ProgramTest : public RecordedSample {
 protected:
  static std::vector<std::uint32_t> calls(const Program& program) {
    std::vector<std::uint32_t> order;
    for (const Instruction& i : program.instructions) {
      if (i.kind == Kind::kCall) order.push_back(i.call);
    }
    return order;
  }
  /// Position of the first call of a stage.
  std::size_t first(const Plan& plan, Stage stage) const {
    const Program& program = plan.programs[0][0];
    const auto found = std::ranges::find_if(program.instructions, [&](const Instruction& i) {
      return i.kind == Kind::kCall && table.ranks[0][0].calls[i.call].segment.stage == stage;
    });
    return static_cast<std::size_t>(found - program.instructions.begin());
  }
};

TEST_F(ProgramTest, TheRecordedScheduleIsTheRecordedOrder) {
  const Plan plan = compile(schedule::find("torchrec/sparse_dist"), cut, table);
  for (std::size_t rank = 0; rank < plan.programs.size(); ++rank) {
    for (std::size_t k = 0; k < plan.programs[rank].size(); ++k) {
      const auto order = calls(plan.programs[rank][k]);
      EXPECT_EQ(order.size(), table.ranks[rank][k].calls.size());
      EXPECT_TRUE(std::ranges::is_sorted(order));
    }
  }
}

TEST_F(ProgramTest, EveryScheduleOfTheFamilyPlaysEveryRecordedCall) {
  for (const char* name :
       {"torchrec/sparse_dist_inplace", "torchrec/sparse_dist_enqueue_after_forward", "torchrec/fused_sparse_dist",
        "torchrec/fused_sparse_dist_new_stream", "torchrec/fused_sparse_dist_current_stream", "torchrec/semi_sync"}) {
    const Plan plan = compile(schedule::find(name), cut, table);
    auto order = calls(plan.programs[0][0]);
    std::ranges::sort(order);
    EXPECT_EQ(std::ranges::adjacent_find(order), order.end()) << name;
    EXPECT_EQ(order.size(), table.ranks[0][0].calls.size()) << name;
  }
}

TEST_F(ProgramTest, BasePlaysTheExchangeOfSplitsOnceAModule) {
  const Plan sparse = compile(schedule::find("torchrec/sparse_dist"), cut, table);
  const Plan base = compile(schedule::find("torchrec/base"), cut, table);
  const auto exchanges = [&](const Plan& plan) {
    return std::ranges::count_if(plan.programs[0][0].instructions, [&](const Instruction& i) {
      if (i.kind != Kind::kCall || i.segment.piece != stages::Piece::kExchange) return false;
      const RecordedCall& call = table.ranks[0][0].calls[i.call];
      return call.works > 0 && table.ranks[0][0].works[call.first_work].on_collective_stream;
    });
  };
  EXPECT_EQ(exchanges(sparse), 1);
  EXPECT_EQ(exchanges(base), 2);
}

// A lookup and the distribution of its output are played together; each call still belongs to its own stage.
TEST_F(ProgramTest, EveryCallStandsUnderTheLabelOfItsStage) {
  const Plan plan = compile(schedule::find("torchrec/sparse_dist"), cut, table);
  std::string label;
  for (const Instruction& i : plan.programs[0][0].instructions) {
    if (i.kind == Kind::kBeginStage) label = plan.labels[i.label];
    if (i.kind == Kind::kCall) {
      EXPECT_EQ(label, schedule::to_string(i.segment.stage));
    }
  }
}

TEST_F(ProgramTest, FusedLooksUpBeforeItStartsTheNextInputDist) {
  const Plan sparse = compile(schedule::find("torchrec/sparse_dist"), cut, table);
  const Plan fused = compile(schedule::find("torchrec/fused_sparse_dist"), cut, table);
  EXPECT_GT(first(sparse, Stage::kEmbeddingLookup), first(sparse, Stage::kInputDistStart));
  EXPECT_LT(first(fused, Stage::kEmbeddingLookup), first(fused, Stage::kInputDistStart));
}

TEST_F(ProgramTest, TheTablesAreUpdatedOnTheStreamOfTheLookup) {
  const Plan plan = compile(schedule::find("torchrec/fused_sparse_dist_new_stream"), cut, table);
  StreamIndex lookup{};
  for (const Instruction& i : plan.programs[0][0].instructions) {
    if (i.kind != Kind::kCall) continue;
    if (i.segment.stage == Stage::kEmbeddingLookup) lookup = i.stream;
  }
  EXPECT_NE(plan.streams[lookup.index()].name, "main");
  for (const Instruction& i : plan.programs[0][0].instructions) {
    if (i.kind != Kind::kCall || i.segment.piece != stages::Piece::kUpdate) continue;
    EXPECT_EQ(i.stream, lookup);
  }
}

// What backward does for the other modules meanwhile is none of its concern: autograd's event stands right behind the
// gradients.
TEST_F(ProgramTest, AnUpdateWaitsForTheGradientsOfItsModuleOnly) {
  const Plan plan = compile(schedule::find("torchrec/fused_sparse_dist_new_stream"), cut, table);
  const std::vector<Instruction>& all = plan.programs[0][0].instructions;
  for (std::uint32_t m = 0; m < cut.modules.size(); ++m) {
    const auto is_call = [&](stages::Piece piece) {
      return [piece, m](const Instruction& i) {
        return i.kind == Kind::kCall && i.segment.stage == Stage::kBackward && i.segment.piece == piece &&
               i.segment.module == stages::ModuleId{m};
      };
    };
    const auto record = std::find_if(all.rbegin(), all.rend(), is_call(stages::Piece::kGradDist)).base();
    const auto update = std::ranges::find_if(all, is_call(stages::Piece::kUpdate));
    ASSERT_TRUE(record != all.begin() && update != all.end());
    EXPECT_EQ(record->kind, Kind::kRecordEvent);
    EXPECT_EQ(plan.streams[record->stream.index()].name, "main");
    EXPECT_TRUE(std::any_of(record, update, [&](const Instruction& i) {
      return i.kind == Kind::kEventWait && i.event == record->event && i.stream == update->stream;
    }));
  }
}

// The engine lets the stream of the lookup wait for all of backward that is queued by then.
TEST_F(ProgramTest, AnUpdateOfTheEngineWaitsForBackward) {
  stages::Cut of_engine = cut;
  of_engine.frees = stages::Frees::kBehindLastUse;
  const Plan plan = compile(schedule::find("torchrec/fused_sparse_dist_new_stream"), of_engine, table);
  const std::vector<Instruction>& all = plan.programs[0][0].instructions;
  const auto update = std::ranges::find_if(
      all, [](const Instruction& i) { return i.kind == Kind::kCall && i.segment.piece == stages::Piece::kUpdate; });
  EXPECT_TRUE(std::any_of(all.begin(), update, [&](const Instruction& i) {
    return i.kind == Kind::kStreamWait && i.stream == update->stream && plan.streams[i.other.index()].name == "main";
  }));
}

TEST_F(ProgramTest, AStageThatWasNotRecordedIsRefusedByName) {
  try {
    static_cast<void>(compile(schedule::find("torchrec/prefetch_sparse_dist"), cut, table));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kStageNotRecorded.name);
    EXPECT_NE(error.problem().find("prefetch"), std::string::npos);
  }
}

/// torchrec/base with its loop over modules written out, the modules called by these names.
schedule::Schedule base_by_name(const std::vector<std::string>& modules) {
  schedule::Schedule base = schedule::find("torchrec/base");
  std::vector<schedule::Step> steps;
  for (const schedule::Step& step : base.iteration) {
    const auto* loop = std::get_if<schedule::ForEachModule>(&step.action);
    if (loop == nullptr) {
      steps.push_back(step);
      continue;
    }
    for (const std::string& module : modules) {
      for (schedule::Step inner : loop->steps) {
        std::get<schedule::StageStep>(inner.action).module = module;
        steps.push_back(inner);
      }
    }
  }
  base.iteration = std::move(steps);
  return base;
}

TEST_F(ProgramTest, ModulesThatAreNamedRunAsInALoop) {
  const Plan looped = compile(schedule::find("torchrec/base"), cut, table);
  const Plan named = compile(base_by_name(cut.modules), cut, table);
  EXPECT_EQ(calls(named.programs[0][0]), calls(looped.programs[0][0]));
}

TEST_F(ProgramTest, AModuleThatIsNotNamedIsLost) {
  ASSERT_EQ(cut.modules.size(), 2U);
  EXPECT_EQ(lost_stage(base_by_name(cut.modules), table), std::nullopt);
  const auto lost = lost_stage(base_by_name({cut.modules[0]}), table);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->module, cut.modules[1]);
  // One stage alone.
  schedule::Schedule one = base_by_name(cut.modules);
  std::erase_if(one.iteration, [&](const schedule::Step& step) {
    const auto* stage = std::get_if<schedule::StageStep>(&step.action);
    return stage != nullptr && stage->stage == Stage::kEmbeddingLookup && stage->module == cut.modules[0];
  });
  EXPECT_EQ(lost_stage(one, table), (LostStage{Stage::kEmbeddingLookup, cut.modules[0]}));
  EXPECT_EQ(predict_if_applicable(one, table, [] { FAIL() << "predicted"; }),
            "recorded stage \"embedding_lookup\" of module \"" + cut.modules[0] + "\" is not in it");
}

// A lookup and the distribution of its output are played together where they may be; their records stay.
TEST_F(ProgramTest, RecordsOfALookupAndOfItsOutputDistributionArePlayed) {
  for (const Stage of : {Stage::kEmbeddingLookup, Stage::kOutputDistStart}) {
    schedule::Schedule base = base_by_name(cut.modules);
    for (schedule::Step& step : base.iteration) {
      auto* stage = std::get_if<schedule::StageStep>(&step.action);
      if (stage != nullptr && stage->stage == of) stage->record = "done";
    }
    const Plan plan = compile(base, cut, table);
    const auto records = std::ranges::count(plan.programs[0][0].instructions, Kind::kRecordEvent, &Instruction::kind);
    EXPECT_EQ(records, static_cast<std::ptrdiff_t>(cut.modules.size())) << schedule::to_string(of);
  }
}

// A wait inside a loop is for the event of its module, as the checker and the engine have it; behind it for the last.
TEST_F(ProgramTest, EventsOfModulesAreApart) {
  const Plan plan = compile(schedule::parse(test::kEventsOfModules, "test"), cut, table);
  std::vector<std::optional<stages::ModuleId>> recorded;
  std::vector<std::optional<stages::ModuleId>> awaited;
  for (const Instruction& i : plan.programs[0][0].instructions) {
    if (i.kind == Kind::kRecordEvent && plan.streams[i.stream.index()].name == "lookup") recorded.push_back(i.module);
    const bool on_lookup = plan.streams[i.stream.index()].name == "lookup";  // autograd's, for the gradients
    if (i.kind == Kind::kEventWait && !on_lookup) awaited.push_back(i.module);
  }
  const std::optional<stages::ModuleId> first = stages::ModuleId{0};
  const std::optional<stages::ModuleId> second = stages::ModuleId{1};
  EXPECT_EQ(recorded, (std::vector{first, second}));
  EXPECT_EQ(awaited, (std::vector{first, second, std::optional<stages::ModuleId>()}));
}

TEST_F(ProgramTest, AModuleThatWasNotRecordedIsRefusedByName) {
  try {
    static_cast<void>(compile(base_by_name({cut.modules.front(), "elsewhere"}), cut, table));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), stages::kUnknownModule.name);
    EXPECT_NE(error.problem().find("elsewhere"), std::string::npos);
  }
}

}  // namespace
}  // namespace interlace::replay
