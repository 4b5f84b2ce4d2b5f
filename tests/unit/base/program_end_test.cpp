#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "simulator/base/program.hpp"

namespace interlace {
namespace {

std::string message_of(const std::function<int()>& program, int& status) {
  testing::internal::CaptureStderr();
  status = end_of(program);
  return testing::internal::GetCapturedStderr();
}

TEST(EndOfProgram, WhatNobodyForesawHasACodeToo) {
  int status = 0;
  const std::string message = message_of([]() -> int { throw std::out_of_range("map::at"); }, status);
  EXPECT_EQ(status, kFailure);
  EXPECT_TRUE(message.starts_with("error[program.unforeseen]: ")) << message;
  EXPECT_NE(message.find("map::at"), std::string::npos) << message;
  EXPECT_NE(message.find("report it"), std::string::npos) << message;
}

TEST(EndOfProgram, AnErrorIsToldAsItIs) {
  int status = 0;
  const Error error(kOutputLost, "file", "full", "make room");
  EXPECT_EQ(message_of([&]() -> int { throw Error(error); }, status), std::string(error.what()) + "\n");
  EXPECT_EQ(status, kFailure);
  EXPECT_EQ(message_of([] { return kUsage; }, status), "");
  EXPECT_EQ(status, kUsage);
}

}  // namespace
}  // namespace interlace
