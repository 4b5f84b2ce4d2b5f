#include "gui/session/notes.hpp"

#include <QSaveFile>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

namespace interlace::gui {

namespace {

constexpr int kVersion = 1;

[[noreturn]] void unreadable(const std::filesystem::path& file, const std::string& why) {
  throw Error(kNotesUnreadable, file.string(), "the notes cannot be read: " + why,
              "mend the file, or move it away to begin anew");
}

}  // namespace

std::filesystem::path notes_file(const std::filesystem::path& recording) {
  std::error_code ignored;  // what cannot be told is no folder
  if (std::filesystem::is_directory(recording, ignored)) return recording / "interlace.notes.json";
  std::filesystem::path file = recording;
  file += ".notes.json";
  return file;
}

std::vector<Mark> read_notes(const std::filesystem::path& file) {
  std::vector<Mark> notes;
  std::error_code failure;
  const bool is_there = std::filesystem::exists(file, failure);
  const bool cannot_be = failure == std::errc::filename_too_long;  // that of the recording is nearly so
  if (failure && !cannot_be) unreadable(file, failure.message());
  if (!is_there) return notes;
  std::ifstream in(file);
  if (!in) unreadable(file, "no permission");
  try {
    const auto json = nlohmann::json::parse(in);
    if (json.at("interlace_notes").get<int>() != kVersion) unreadable(file, "it is of another version");
    for (const auto& note : json.at("notes")) {
      notes.push_back({note.at("at_ns").get<Nanoseconds>(), note.at("text").get<std::string>()});
    }
  } catch (const nlohmann::json::exception& error) {
    unreadable(file, error.what());
  }
  return notes;
}

void write_notes(const std::vector<Mark>& notes, const std::filesystem::path& file) {
  if (notes.empty()) {
    std::error_code ignored;  // there may be none
    std::filesystem::remove(file, ignored);
    return;
  }
  nlohmann::ordered_json json;
  json["interlace_notes"] = kVersion;
  json["notes"] = nlohmann::ordered_json::array();
  for (const Mark& note : notes) json["notes"].push_back({{"at_ns", note.at}, {"text", note.text}});
  const std::string text = json.dump(2) + "\n";
  QSaveFile out(QString::fromStdString(file.string()));
  const auto size = static_cast<qint64>(text.size());
  if (!out.open(QIODevice::WriteOnly) || out.write(text.data(), size) != size || !out.commit()) {
    throw Error(kCannotWriteNotes, file.string(), "the notes cannot be written: " + out.errorString().toStdString(),
                "notes are kept beside the recording: copy it to a folder that may be written to");
  }
}

}  // namespace interlace::gui
