#include "gui/session/session.hpp"

#include <functional>
#include <string>
#include <utility>
#include <variant>

#include "gui/session/write_report.hpp"

namespace interlace::gui {

namespace {

std::unique_ptr<QThreadPool> single_worker() {
  auto worker = std::make_unique<QThreadPool>();
  worker->setMaxThreadCount(1);
  return worker;
}

}  // namespace

Session::Session(QObject* parent) : QObject(parent), worker_(single_worker()) {}

Session::~Session() {
  stop_.request_stop();
  worker_->clear();
  worker_->waitForDone();
  for (const auto& worker : given_up_) worker->waitForDone();
}

template <class Work>
void Session::start(std::string title_on_failure, Work work, std::string place) {
  ++*pending_;
  const Progress progress{[this](const std::string& phase) {
                            QMetaObject::invokeMethod(
                                this, [this, phase] { Q_EMIT progressed(QString::fromStdString(phase)); });
                          },
                          stop_.get_token()};
  worker_->start([this, progress, pending = pending_, title = std::move(title_on_failure), work = std::move(work),
                  place = std::move(place)]() mutable {
    std::function<void()> done;
    try {
      if (!progress.stop.stop_requested()) done = work(progress);
    } catch (const Cancelled&) {
    } catch (...) {
      done = [this, failure = failure_of(std::current_exception(), title, place)] { Q_EMIT failed(failure); };
    }
    QMetaObject::invokeMethod(this, [this, stop = progress.stop, pending, done = std::move(done)] {
      if (done && !stop.stop_requested()) done();
      if (--*pending == 0 && pending == pending_) Q_EMIT finished();
    });
  });
}

void Session::open(std::vector<std::filesystem::path> files, std::optional<stages::Profile> profile) {
  std::string place;
  for (const auto& file : files) place += (place.empty() ? "" : ", ") + file.string();
  start(
      "The recording cannot be opened",
      [this, files = std::move(files), profile = std::move(profile)](const Progress& progress) {
        RecordedPtr opened_now = open_recording(files, progress, profile);
        return [this, opened_now] {
          recorded_ = opened_now;
          forecaster_ = std::make_shared<Forecaster>(opened_now);
          Q_EMIT opened();
        };
      },
      place);
}

void Session::hand_over(std::stop_token of, std::function<void()> done) {
  QMetaObject::invokeMethod(this, [of = std::move(of), done = std::move(done)] {
    if (!of.stop_requested()) done();
  });
}

void Session::tell(const std::string& schedule, std::future<Answer> answer,
                   const std::shared_ptr<Forecaster>& forecaster, const std::stop_token& of) {
  try {
    const Answer came = answer.get();
    hand_over(of, [this, schedule, came, forecaster] {
      if (forecaster != forecaster_) return;
      if (const ForecastPtr* forecast = std::get_if<ForecastPtr>(&came)) {
        Q_EMIT predicted(*forecast);
      } else {
        Q_EMIT left_out({schedule, std::get<std::string>(came)});
      }
    });
  } catch (const Cancelled&) {
  } catch (...) {
    const Failure failure = failure_of(std::current_exception(), schedule + " cannot be predicted");
    hand_over(of, [this, failure] { Q_EMIT failed(failure); });
  }
}

void Session::predict(std::vector<schedule::AskedSchedule> asked) {
  if (!forecaster_ || asked.empty()) return;
  const std::string what = asked.size() == 1 ? asked.front().schedule.name + " cannot" : "Schedules cannot";
  start(what + " be predicted", [this, asked = std::move(asked), forecaster = forecaster_](const Progress& progress) {
    forecaster->predict(asked, progress, [&](std::size_t place, std::future<Answer> answer) {
      tell(asked[place].schedule.name, std::move(answer), forecaster, progress.stop);
    });
    return std::function<void()>();
  });
}

bool Session::one_rank() const { return recorded_ && recorded_->predictor && recorded_->predictor->sites().lone_rank; }

void Session::try_out(const schedule::Schedule& draft) {
  const std::uint64_t number = ++*tried_;
  const bool one_rank = this->one_rank();
  start(draft.name + " cannot be checked", [this, draft, number, one_rank, tried = tried_](const Progress& progress) {
    if (number != *tried) return std::function<void()>();
    progress.begin("checking " + draft.name);
    const auto verdict = std::make_shared<const Verdict>(verdict_of(draft, one_rank));
    return std::function<void()>([this, draft, number, verdict] {
      if (number != *tried_) return;
      Q_EMIT judged(verdict);
      if (verdict->can_run && forecaster_) predict_draft(draft, number);
    });
  });
}

void Session::predict_draft(const schedule::Schedule& draft, std::uint64_t number) {
  const std::string title = draft.name + " cannot be predicted";
  start(title, [this, draft, number, title, tried = tried_, forecaster = forecaster_](const Progress& progress) {
    if (number != *tried) return std::function<void()>();
    try {
      const ForecastPtr forecast = forecaster->predict(draft, progress);
      return std::function<void()>([this, number, forecast, forecaster] {
        if (number == *tried_ && forecaster == forecaster_) Q_EMIT predicted(forecast);
      });
    } catch (const Error&) {
      const Failure failure = failure_of(std::current_exception(), title);
      return std::function<void()>([this, number, failure] {
        if (number == *tried_) Q_EMIT not_predicted(failure);
      });
    }
  });
}

void Session::write_report(std::vector<ForecastPtr> forecasts, std::vector<report::SkippedSchedule> left_out,
                           std::filesystem::path file) {
  if (!recorded_) return;
  start("The report cannot be written",
        [this, recorded = recorded_, forecasts = std::move(forecasts), left_out = std::move(left_out),
         file = std::move(file)](const Progress& progress) {
          progress.begin("writing " + file.filename().string());
          gui::write_report(*recorded, forecasts, left_out, file);
          return [this, file] { Q_EMIT report_written(QString::fromStdString(file.string())); };
        });
}

void Session::explain(RunPtr run) {
  start("Critical path and idle causes cannot be told", [this, run = std::move(run)](const Progress& progress) {
    progress.begin("looking for what the steps of " + run->title() + " hang on");
    run->explain();
    return [this] { Q_EMIT explained(); };
  });
}

void Session::cancel() {
  stop_.request_stop();
  stop_ = std::stop_source();
  std::erase_if(given_up_, [](const auto& worker) { return worker->activeThreadCount() == 0; });
  if (!busy()) return;
  worker_->clear();
  given_up_.push_back(std::exchange(worker_, single_worker()));
  pending_ = std::make_shared<int>(0);
  // A prediction that was cancelled still uses the other one.
  if (recorded_) forecaster_ = std::make_shared<Forecaster>(recorded_);
  Q_EMIT finished();
}

}  // namespace interlace::gui
