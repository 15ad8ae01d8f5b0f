//===- OptionsTest.cpp - The command line ---------------------------------===//

#include "norm_fusion/Runner/Error.h"
#include "norm_fusion/Runner/Options.h"

#include "gtest/gtest.h"

using namespace mlir::norm_fusion::runner;

static std::string getProblem(std::vector<const char *> arguments) {
  auto options = parseRunnerOptions(arguments);
  return options ? std::string() : llvm::toString(options.takeError());
}

TEST(Options, readsEverything) {
  auto options = parseRunnerOptions(
      {"f.mlir", "--entry=e", "--input=a.npy", "--input=4xf32=1",
       "--output=o.npy", "--repeat=3", "--bitwise", "--check", "--rtol=1e-3",
       "--device=cuda:1", "--schedule=structure=plain", "--seed=9",
       "--memory-bandwidth=3352"});
  ASSERT_TRUE(bool(options));
  EXPECT_EQ(options->file, "f.mlir");
  EXPECT_EQ(options->inputs.size(), 2u);
  EXPECT_EQ(options->inputs[1], "4xf32=1");
  EXPECT_EQ(options->schedule, "structure=plain");
  EXPECT_EQ(options->repeat, 3u);
  EXPECT_EQ(options->memoryBandwidth, 3352u);
  EXPECT_EQ(options->rtol, 1e-3);
  EXPECT_FALSE(options->atol);
}

TEST(Options, refusesWithAReason) {
  EXPECT_NE(getProblem({}).find("no file"), std::string::npos);
  EXPECT_NE(getProblem({"f", "--chek"}).find("--check"), std::string::npos);
  for (std::vector<const char *> arguments :
       {std::vector<const char *>{"f", "g"},
        {"f", "--entry"},
        {"f", "--entry="},
        {"f", "--check=1"},
        {"f", "--repeat=0"},
        {"f", "--repeat=x"},
        {"f", "--memory-bandwidth=0"},
        {"f", "--memory-bandwidth=-1"},
        {"f", "--dims=4x"},
        {"f", "--dims=-4"},
        {"f", "--rtol=nan"},
        {"f", "--rtol=-1"},
        {"f", "--device=tpu"},
        {"f", "--device=cuda:x"},
        {"f", "--dims=4", "--input=4xf32"},
        {"f", "-check"}})
    EXPECT_NE(getProblem(arguments), "") << arguments[1];
}
