// Databases that are no exports of Nsight Systems, damaged ones, and ones made to do harm.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/ingest/read.hpp"
#include "tests/support/gzip.hpp"
#include "tests/support/nsys_export.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::ingest {
namespace {

using testing::NsysExport;
using testing::TemporaryFolder;

std::string code_of(const std::string& content, const std::string& name = "run.sqlite") {
  const TemporaryFolder folder;
  try {
    (void)read(std::vector{folder.write(name, content)});
  } catch (const Error& error) {
    return std::string(error.code());
  }
  return "none";
}

NsysExport sound() {
  NsysExport run;
  run.call("cudaLaunchKernel_v7000", 1, 2, 1).kernel("gemm", 7, 10, 20, 1);
  return run;
}

/// An export whose tables are other than those of the schema.
std::string changed(const std::string& sql) { return sound().sql(sql).bytes(); }

TEST(NsysInput, TellsWhatIsWrong) {
  EXPECT_EQ(code_of(sound().bytes()), "none");
  EXPECT_EQ(code_of(sound().bytes().substr(0, 5000)), "nsys.damaged");
  EXPECT_EQ(code_of("SQLite format 3"), "ingest.unknown_format");
  EXPECT_EQ(code_of(std::string("SQLite format 3\0 and more", 25)), "nsys.damaged");
  EXPECT_EQ(code_of(testing::gzip(std::string("SQLite format 3\0 and more", 25))), "nsys.damaged");
  EXPECT_EQ(code_of(NsysExport().bytes()), "ingest.nothing_recorded");
  EXPECT_EQ(code_of(changed("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN globalPid")), "nsys.unknown_schema");
  EXPECT_EQ(code_of(changed("ALTER TABLE NVTX_EVENTS DROP COLUMN eventType")), "nsys.unknown_schema");
  EXPECT_EQ(code_of("anything else", "run.nsys-rep"), "ingest.unsupported_format");
}

TEST(NsysInput, RefusesDatabasesOfOthers) {
  NsysExport other;
  for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_RUNTIME",
                            "NVTX_EVENTS", "META_DATA_EXPORT"}) {
    other.sql(std::string("DROP TABLE ") + table);
  }
  EXPECT_EQ(code_of(other.bytes()), "nsys.not_an_export");
}

TEST(NsysInput, DoesWithoutTablesAndColumnsThatOlderVersionsLack) {
  for (const char* table :
       {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        "NVTX_EVENTS", "StringIds", "TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE", "TARGET_INFO_SESSION_START_TIME",
        "META_DATA_EXPORT", "DIAGNOSTIC_EVENT", "ThreadNames", "TARGET_INFO_CUDA_STREAM"}) {
    EXPECT_EQ(code_of(changed(std::string("DROP TABLE ") + table)), "none") << table;
  }
  EXPECT_EQ(code_of(changed("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN graphNodeId")), "none");
  EXPECT_EQ(code_of(changed("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN contextId")), "none");
}

// A view runs what it likes; a computed column does so for each row.
TEST(NsysInput, RunsNothingOfTheFile) {
  const std::string endless =
      "WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM n) "
      "SELECT start, start AS eventType, start AS globalTid FROM n";
  EXPECT_EQ(code_of(changed("DROP TABLE NVTX_EVENTS; CREATE VIEW NVTX_EVENTS AS " + endless)), "nsys.unknown_schema");
  // As if the column were not there.
  EXPECT_EQ(code_of(changed("DROP TABLE NVTX_EVENTS; CREATE TABLE NVTX_EVENTS (start INTEGER, globalTid INTEGER, "
                            "eventType INTEGER AS (length(zeroblob(900000000))))")),
            "nsys.unknown_schema");
  EXPECT_EQ(code_of(changed("CREATE TABLE \"o'\"\" ther\" (start INTEGER); INSERT INTO \"o'\"\" ther\" VALUES (1)")),
            "none");
}

TEST(NsysInput, ValuesOfAnyTypeAndSize) {
  const auto with = [](const char* column, const char* value) {
    return code_of(changed(std::string("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET ") + column + " = " + value));
  };
  for (const char* value : {"NULL", "'text'", "1.5", "x'00'", "9223372036854775807", "-9223372036854775808", "-1"}) {
    for (const char* column :
         {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "demangledName", "gridX",
          "blockY", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory", "graphNodeId"}) {
      EXPECT_EQ(with(column, value), "none") << column << " = " << value;
    }
  }
}

// It lies where it may not be written, and nothing comes to lie beside it.
TEST(NsysInput, LeavesTheFileAsItIs) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.write("a b?c#d%e.sqlite", sound().bytes());
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  EXPECT_EQ(read(std::vector{file}).trace.size(), 2U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

// Other tools keep databases in this mode; a file of it that lies alone is whole.
TEST(NsysInput, ReadsAFileOfWriteAheadLogging) {
  std::string bytes = sound().bytes();
  bytes[18] = bytes[19] = 2;
  EXPECT_EQ(code_of(bytes), "none");
  EXPECT_EQ(code_of(testing::gzip(bytes)), "none");
}

TEST(NsysInput, RefusesAFileOfWhichAPartLiesBesideIt) {
  for (const char* const ending : {"-wal", "-journal"}) {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.write("run.sqlite", sound().bytes());
    (void)folder.write(std::string("run.sqlite") + ending, "");
    EXPECT_EQ(read(std::vector{file}).trace.size(), 2U);
    (void)folder.write(std::string("run.sqlite") + ending, "changes");
    try {
      (void)read(std::vector{file});
      ADD_FAILURE() << "was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "nsys.damaged");
      EXPECT_NE(error.problem().find(ending), std::string::npos) << error.problem();
    }
  }
}

// As pandas writes a column of integers that has a NULL.
TEST(NsysInput, ReadsWholeNumbersThatAreWrittenAsReal) {
  EXPECT_EQ(code_of(changed("CREATE TABLE k AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE "
                            "CUPTI_ACTIVITY_KIND_KERNEL; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL AS SELECT start * 1.0 "
                            "AS start, end * 1.0 AS end, deviceId, streamId, correlationId, globalPid FROM k")),
            "none");
}

TEST(NsysInput, TellsToExportTheReportsOfAFolder) {
  const TemporaryFolder folder;
  (void)folder.write("rank0.nsys-rep", "something");
  try {
    (void)read(std::vector{folder.path()});
    ADD_FAILURE() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "ingest.no_files");
    EXPECT_NE(error.advice().find("nsys export"), std::string::npos) << error.advice();
  }
}

}  // namespace
}  // namespace interlace::ingest
