#pragma once

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/error.hpp"

namespace interlace::cli {

inline constexpr ErrorCode kUnknownOutput{"cli.unknown_output"};
inline constexpr ErrorCode kOutputIsInput{"cli.output_is_input"};
inline constexpr ErrorCode kPartNotBuilt{"cli.part_not_built"};
inline constexpr ErrorCode kCannotAnchor{"cli.cannot_anchor"};
inline constexpr ErrorCode kUnclearRanks{"cli.unclear_ranks"};
inline constexpr ErrorCode kRepeatedRecording{"cli.repeated_recording"};
inline constexpr ErrorCode kNotRepaired{"cli.not_repaired"};
inline constexpr ErrorCode kDoesNotApply{"cli.does_not_apply"};
inline constexpr ErrorCode kClocksUnknown{"cli.clocks_unknown"};
inline constexpr ErrorCode kCannotStart{"cli.cannot_start"};
inline constexpr ErrorCode kNothingPredicted{"cli.nothing_predicted"};
inline constexpr ErrorCode kNoGpu{"cli.no_gpu"};
inline constexpr ErrorCode kNotPlanned{"cli.not_planned"};
inline constexpr ErrorCode kEngineFailed{"cli.engine_failed"};
inline constexpr ErrorCode kOtherSettings{"cli.other_settings"};
inline constexpr ErrorCode kIsPrediction{"cli.is_prediction"};

inline constexpr DiagnosticKind kMemoryNotRecorded{
    "predict.memory_not_recorded", Severity::kWarning,
    "--gpu-memory was given, but the recording has no events of the allocator: whether schedules fit cannot be told",
    "record with profile_memory=True, or with interlace record"};
inline constexpr DiagnosticKind kOtherMachine{
    "predict.other_machine", Severity::kWarning,
    "--machine was measured on another kind of GPU than that of the recording: its times are not those of this job",
    "give the profile of the recorded machine, or leave --machine out: what a recording tells is found without"};
inline constexpr DiagnosticKind kQuickProfile{
    "predict.quick_profile", Severity::kWarning,
    "--machine was measured with --quick: few repeats, for a first look and not for predictions",
    "make the profile anew with interlace calibrate without --quick"};
inline constexpr DiagnosticKind kMeasuredIsPredicted{
    "explain.measured_is_predicted", Severity::kWarning,
    "what stands in the place of the measured trace is itself a prediction, so that nothing is told of how true one is",
    "name the recordings first and the predicted trace last"};
inline constexpr DiagnosticKind kOtherSchedule{
    "explain.other_schedule", Severity::kWarning,
    "it is of another schedule than the measured trace, so that the difference is mostly that of the schedules",
    "predict the schedule that was measured, or read the difference as what the other schedule changes"};
inline constexpr DiagnosticKind kWithoutRecorder{
    "explain.without_recorder", Severity::kWarning,
    "the prediction is of a run without the recorder, whose cost the measured trace carries: its host takes longer",
    "predict --under-recorder, to compare like with like"};
inline constexpr DiagnosticKind kClockMoved{"merge.clock_moved", Severity::kInfo,
                                            "hosts whose times were moved onto the clock of the first",
                                            "waits between hosts shorter than the stated bound tell nothing"};
inline constexpr DiagnosticKind kClockDrifted{
    "merge.clock_drifted", Severity::kWarning,
    "hosts whose clock ran off the first host's while recording, so that no one offset fits",
    "keep the clocks of all hosts by PTP or chrony, or record a shorter span"};

}  // namespace interlace::cli
