#include "gui/session/notes.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace interlace::gui {
namespace {

TEST(Notes, AreKeptBesideTheRecording) {
  const testing::TemporaryFolder folder;
  const auto recording = folder.write("r0.json.gz", "");
  const auto file = notes_file(recording);
  EXPECT_EQ(file, folder.path() / "r0.json.gz.notes.json");
  EXPECT_EQ(notes_file(folder.path()), folder.path() / "interlace.notes.json");
  EXPECT_TRUE(read_notes(file).empty());
  const std::vector<Mark> notes = {{1'234'567'890'123, "the \"cold\" collective"}, {-5, "1"}};
  write_notes(notes, file);
  EXPECT_EQ(read_notes(file), notes);
  write_notes({}, file);
  EXPECT_FALSE(std::filesystem::exists(file));
}

// 255 bytes are the most that a name may have.
TEST(Notes, AreNoneBesideARecordingWhoseNameLeavesNoRoom) {
  const testing::TemporaryFolder folder;
  const auto file = notes_file(folder.write(std::string(245, 'h'), ""));
  EXPECT_TRUE(read_notes(file).empty());
  write_notes({}, file);
  try {
    write_notes({{1, "a"}}, file);
    ADD_FAILURE() << "written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kCannotWriteNotes.name);
  }
}

TEST(Notes, SayWhyItCannotBeToldWhetherThereAreAny) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_symlink("loop", folder.path() / "loop");
  const auto file = notes_file(folder.path() / "loop" / "r0.json");
  try {
    (void)read_notes(file);
    ADD_FAILURE() << "read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kNotesUnreadable.name);
    EXPECT_EQ(error.place(), file.string());
  }
}

TEST(Notes, SayWhatIsWrongWithTheFile) {
  const testing::TemporaryFolder folder;
  for (const char* text : {"", "{", "{\"interlace_notes\": 2, \"notes\": []}", "{\"interlace_notes\": 1}",
                           "{\"interlace_notes\": 1, \"notes\": [{\"at_ns\": \"x\", \"text\": \"y\"}]}"}) {
    const auto file = folder.write("bad.notes.json", text);
    try {
      (void)read_notes(file);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kNotesUnreadable.name);
      EXPECT_EQ(error.place(), file.string());
    }
  }
  EXPECT_THROW(write_notes({{1, "a"}}, folder.path() / "no/such/folder/x"), Error);
}

}  // namespace
}  // namespace interlace::gui
