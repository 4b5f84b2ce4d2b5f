#pragma once

#include <QObject>
#include <QThreadPool>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "gui/session/failure.hpp"
#include "gui/session/forecast.hpp"
#include "gui/session/recorded.hpp"
#include "gui/session/verdict.hpp"

namespace interlace::gui {

/// Opens recordings and predicts schedules on a thread of its own, one thing after the other, several schedules at once
/// where they are asked for together; results come as signals in the thread that the session lives in. What is
/// cancelled, or meant for a recording closed since, is dropped without a word, and nothing new waits for it: reading
/// cannot be broken off in the midst of a file.
class Session : public QObject {
  Q_OBJECT

 public:
  explicit Session(QObject* parent = nullptr);
  /// Waits for what is running.
  ~Session() override;

  /// Replaces what is open once all has been read; nothing changes where that fails. profile: as of open_recording().
  void open(std::vector<std::filesystem::path> files, std::optional<stages::Profile> profile = std::nullopt);
  /// Predicts from the open recording, all at once; does nothing where none is. Results come one by one in this order;
  /// one among many that does not apply to the recording is left out.
  void predict(std::vector<schedule::AskedSchedule> asked);
  /// Judges a schedule that is being edited, then predicts it where it can run and a recording is open. Only the last
  /// one asked for counts: what comes late of earlier ones is dropped.
  void try_out(const schedule::Schedule& draft);
  /// Writes recording and predictions as write_report does.
  void write_report(std::vector<ForecastPtr> forecasts, std::vector<report::SkippedSchedule> left_out,
                    std::filesystem::path file);
  /// Works out why a timeline takes as long as it does (Run::explain).
  void explain(RunPtr run);
  /// Gives up all that is running or waits to.
  void cancel();

  [[nodiscard]] bool busy() const { return *pending_ > 0; }
  /// May be null.
  [[nodiscard]] const RecordedPtr& recorded() const { return recorded_; }
  /// Whether schedules are for a job of one rank, as the recorded one is.
  [[nodiscard]] bool one_rank() const;

 Q_SIGNALS:
  void progressed(const QString& phase);
  void opened();
  void predicted(const interlace::gui::ForecastPtr& forecast);
  void failed(const interlace::gui::Failure& failure);
  /// One among many.
  void left_out(const interlace::report::SkippedSchedule& schedule);
  void judged(const interlace::gui::VerdictPtr& verdict);
  void report_written(const QString& file);
  void explained();
  /// What was tried out cannot be predicted from this recording.
  void not_predicted(const interlace::gui::Failure& failure);
  /// The last of what was asked for has come, failed or been cancelled.
  void finished();

 private:
  /// Runs `work` off this thread; `done`, which it returns, runs on this one unless cancelled.
  /// place: of failures that name none.
  template <class Work>
  void start(std::string title_on_failure, Work work, std::string place = {});
  void predict_draft(const schedule::Schedule& draft, std::uint64_t number);
  /// Has `done` run on the thread of this unless what it is of is cancelled until then. From any thread.
  void hand_over(std::stop_token of, std::function<void()> done);
  /// What came of a schedule that was asked for. From any thread.
  void tell(const std::string& schedule, std::future<Answer> answer, const std::shared_ptr<Forecaster>& forecaster,
            const std::stop_token& of);

  std::unique_ptr<QThreadPool> worker_;
  std::vector<std::unique_ptr<QThreadPool>> given_up_;  ///< still busy with what was cancelled
  std::stop_source stop_;
  std::shared_ptr<int> pending_ = std::make_shared<int>(0);  ///< of what was not cancelled; for this thread only
  RecordedPtr recorded_;
  std::shared_ptr<Forecaster> forecaster_;
  /// Counts what was tried out; read by the worker, too.
  std::shared_ptr<std::atomic<std::uint64_t>> tried_ = std::make_shared<std::atomic<std::uint64_t>>(0);
};

}  // namespace interlace::gui
