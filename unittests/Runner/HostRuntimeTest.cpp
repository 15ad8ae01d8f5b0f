//===- HostRuntimeTest.cpp - Calls of compiled code -----------------------===//
//
// What leaves a call in another way than by its end, also where calls of
// several threads overlap.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/HostRuntime.h"
#include "gtest/gtest.h"

#include <atomic>
#include <csignal>
#include <thread>

using namespace mlir::norm_fusion::runner;

static std::string run(llvm::function_ref<void()> code) {
  Arena arena(nullptr);
  return llvm::toString(runHostCode(nullptr, nullptr, &arena, code));
}

/// A division that can't be done is this signal.
TEST(HostRuntimeTest, DivisionAfterAnotherThreadsCall) {
  std::atomic<bool> isFirstIn = false, isSecondIn = false, isFirstOver = false;
  auto waitFor = [](std::atomic<bool> &flag) {
    while (!flag)
      std::this_thread::yield();
  };
  std::thread first([&] {
    EXPECT_EQ(run([&] {
                isFirstIn = true;
                waitFor(isSecondIn);
              }),
              "");
    isFirstOver = true;
  });
  waitFor(isFirstIn);
  std::string text = run([&] {
    isSecondIn = true;
    waitFor(isFirstOver);
    std::raise(SIGFPE);
  });
  first.join();
  EXPECT_EQ(text,
            "host code divides an integer by zero, or the least one by -1");
}
