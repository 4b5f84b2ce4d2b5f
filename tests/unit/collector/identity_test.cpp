// What a process is called, where its file goes and how it is told to record.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>

#include "cupti_collector/names.hpp"
#include "cupti_collector/options.hpp"
#include "cupti_collector/rank_identity.hpp"
#include "cupti_collector/session_log.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::collector {
namespace {

using Environment = std::map<std::string, std::string>;

auto looking_up(const Environment& environment) {
  return [&environment](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
}

RankIdentity identity(const Environment& environment) { return identify_rank(looking_up(environment)); }

TEST(RankIdentity, IsWhatLaunchersSay) {
  EXPECT_EQ(identity({}), RankIdentity{});
  EXPECT_EQ(identity({{"RANK", "3"}, {"WORLD_SIZE", "4"}}), (RankIdentity{3, 4}));
  EXPECT_EQ(identity({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}), (RankIdentity{1, 2}));
  EXPECT_EQ(identity({{"SLURM_PROCID", "7"}, {"SLURM_NTASKS", "16"}}), (RankIdentity{7, 16}));
  EXPECT_EQ(identity({{"RANK", "3"}}), (RankIdentity{3, std::nullopt}));
  EXPECT_EQ(identity({{"RANK", "three"}}), RankIdentity{});
  EXPECT_EQ(identity({{"RANK", "4"}, {"WORLD_SIZE", "4"}}), (RankIdentity{4, std::nullopt})) << "contradictory";
}

TEST(RankFile, EachProcessHasItsOwn) {
  const testing::TemporaryFolder folder;
  const auto create = [&](const RankIdentity& who) {
    FileOutput output;
    return create_rank_file(folder.path(), who, output);
  };
  EXPECT_EQ(create({1, 2}), 1);
  EXPECT_EQ(create({0, 2}), 0);
  EXPECT_EQ(create({1, 2}), 2) << "a second process of rank 1 is beyond the ranks of the job";
  EXPECT_EQ(create({}), 3);
  EXPECT_FALSE(create_rank_file(folder.path() / "nowhere", {}, *std::make_unique<FileOutput>()));
}

/// While it lives, this process has no standard output.
class NoStandardOutput {
 public:
  NoStandardOutput() {
    std::fflush(stdout);
    close(STDOUT_FILENO);
  }
  NoStandardOutput(const NoStandardOutput&) = delete;
  NoStandardOutput& operator=(const NoStandardOutput&) = delete;
  ~NoStandardOutput() {
    dup2(before_, STDOUT_FILENO);
    close(before_);
  }
  static bool has_one() { return fcntl(STDOUT_FILENO, F_GETFD) >= 0; }

 private:
  int before_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
};

// The system gives the least number that is free: what the program prints would go into the recording.
TEST(FileOutput, TakesNoNumberOfAStandardStream) {
  const testing::TemporaryFolder folder;
  FileOutput output;
  bool is_created = false;
  bool has_output = true;
  {
    const NoStandardOutput closed;
    is_created = output.create(folder.path() / "file");
    has_output = NoStandardOutput::has_one();
  }
  EXPECT_TRUE(is_created);
  EXPECT_FALSE(has_output);
  EXPECT_EQ(output.sputn("bytes", 5), 5);
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "file"), 5U);
  FileOutput second;
  EXPECT_FALSE(second.create(folder.path() / "file"));
  EXPECT_EQ(errno, EEXIST) << "why is told all the same";
}

TEST(Options, SurviveTheEnvironment) {
  Options options;
  options.folder = "/tmp/a b";
  options.run_id = "abc";
  options.cupti = "/x/libcupti.so";
  options.flush_period = 5 * kMillisecond;
  options.buffer_bytes = 1 << 17;
  options.buffers_limit = 1 << 24;
  options.light = true;
  options.whole_graphs = true;
  options.plan = {.begin = 5, .end = 9, .step_name = "a step", .skip = 2, .steps = 3, .starts_off = true};
  options.most_bytes = 77;
  options.most_bytes_a_second = 78;
  options.last = 79;
  Environment environment;
  for (const auto& [name, value] : to_environment(options)) environment[name] = value;
  EXPECT_EQ(options_from(looking_up(environment)), options);
  EXPECT_EQ(options_from(looking_up({})), std::nullopt);
}

// As `engine run --record` does, whose ranks begin by themselves.
TEST(Options, AreThoseOfTheEnvironmentInAFolderThatTheProgramNames) {
  Options options;
  options.run_id = "abc";
  options.cupti = "/x/libcupti.so";
  options.buffers_limit = 1 << 24;
  options.last = kSecond;
  Environment environment;
  for (const auto& [name, value] : to_environment(options)) environment[name] = value;
  environment.erase("INTERLACE_RECORD_DIR");
  EXPECT_EQ(options_from(looking_up(environment)), std::nullopt);
  options.folder = "/tmp/of the program";
  EXPECT_EQ(options_from(looking_up(environment), options.folder), options);
  environment["INTERLACE_RECORD_DIR"] = "/tmp/other";
  EXPECT_EQ(options_from(looking_up(environment), options.folder), options);
}

TEST(Options, NameTheSameFolderWhereverTheProgramGoes) {
  const testing::TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const auto here = std::filesystem::current_path();  // as the system writes it
  const Environment environment{{"INTERLACE_RECORD_DIR", "of environment"}};
  const auto of_environment = options_from(looking_up(environment));
  const Options of_program = options_from(looking_up(environment), "of program");
  std::filesystem::current_path(before);
  ASSERT_TRUE(of_environment);
  EXPECT_EQ(of_environment->folder, here / "of environment");
  EXPECT_EQ(of_program.folder, here / "of program");
}

TEST(Options, BadOnesAreRefused) {
  Environment environment{{"INTERLACE_RECORD_DIR", "/tmp"}, {"INTERLACE_RECORD_FLUSH_NS", "soon"}};
  EXPECT_THROW(static_cast<void>(options_from(looking_up(environment))), Error);
  environment["INTERLACE_RECORD_FLUSH_NS"] = "0";
  EXPECT_THROW(static_cast<void>(options_from(looking_up(environment))), Error);
}

TEST(SessionLog, GivesLinesBackWhole) {
  const testing::TemporaryFolder folder;
  EXPECT_TRUE(read_log(folder.path()).empty());
  write_log(folder.path(), "note", "first\nwith\ta tab");
  write_log(folder.path(), "note", "second");
  const auto lines = read_log(folder.path());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].kind, "note");
  EXPECT_EQ(lines[0].text, "first with a tab");
  EXPECT_EQ(lines[0].process, getpid());
  EXPECT_EQ(lines[1].text, "second");
}

TEST(Names, ReadAsProfilersWriteThem) {
  EXPECT_EQ(demangled("_Z3addPfS_i"), "add(float*, float*, int)");
  EXPECT_EQ(demangled("ncclDevKernel_SendRecv"), "ncclDevKernel_SendRecv");
  EXPECT_EQ(demangled(nullptr), "(unnamed)");
  EXPECT_EQ(copy_name({.direction = 2, .source = MemoryClass::kDevice, .destination = MemoryClass::kPageable}),
            "Memcpy DtoH (Device -> Pageable)");
  EXPECT_EQ(copy_name({.is_memset = true, .destination = MemoryClass::kDevice}), "Memset (Device)");
  EXPECT_EQ(collective_of_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
            trace::CollectiveFunction::kAllReduce);
  EXPECT_EQ(collective_of_kernel("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(AllGather)"),
            trace::CollectiveFunction::kReduceScatter);
  EXPECT_EQ(collective_of_kernel("ncclDevKernel_Generic(int)"), trace::CollectiveFunction::kUnknown);
  EXPECT_EQ(collective_of_kernel("void at::native::nccl_like<float>()"), std::nullopt);
}

}  // namespace
}  // namespace interlace::collector
