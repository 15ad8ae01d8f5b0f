//===- TuneTest.cpp - Tuning on a device ----------------------------------===//
//
// The emulator has no clock, so what is fastest is chance here: these tests are
// about everything around it.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/Tune.h"
#include "norm_fusion/Runner/Error.h"
#include "norm_fusion/Runner/Execute.h"
#include "norm_fusion/Runner/Inputs.h"
#include "norm_fusion/Runner/Options.h"
#include "norm_fusion/Schedule/Tuning.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runner;

static constexpr const char *text = R"(
#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<7x256xf32>) -> (tensor<7xf32>, tensor<256xf32>) {
  %zero = arith.constant 0.0 : f32
  %r0 = tensor.empty() : tensor<7xf32>
  %r1 = linalg.fill ins(%zero : f32) outs(%r0 : tensor<7xf32>) -> tensor<7xf32>
  %r = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<7x256xf32>) outs(%r1 : tensor<7xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<7xf32>
  %c0 = tensor.empty() : tensor<256xf32>
  %c1 = linalg.fill ins(%zero : f32) outs(%c0 : tensor<256xf32>) -> tensor<256xf32>
  %c = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<7x256xf32>) outs(%c1 : tensor<256xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<256xf32>
  return %r, %c : tensor<7xf32>, tensor<256xf32>
})";

namespace {
struct Tune : testing::Test {
  Tune() {
    compile.profit = Profit::always;
    context = createContext();
    ParserConfig config(context.get());
    source = parseSourceString<ModuleOp>(text, config);
    signature = llvm::cantFail(findEntry(*source, ""));
    runtime::EmulatorOptions small;
    small.sms = 2;
    device = llvm::cantFail(runtime::createEmulatorDevice(small));
    inputs = llvm::cantFail(makeInputs(RunnerOptions(), signature));
    CompiledModule compiled = llvm::cantFail(
        compileFused(OwningOpRef<ModuleOp>(source->clone()), compile));
    EXPECT_EQ(compiled.fused, 1u);
    auto program = llvm::cantFail(
        Program::create(*compiled.module, signature, device.get()));
    results = llvm::cantFail(program->run(inputs));
    int descriptor;
    EXPECT_FALSE(
        llvm::sys::fs::createTemporaryFile("tuned", "json", descriptor, path));
    llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true)
        << R"({"schema": 1, "entries": [{"problem": "p", "chip": "c",
              "version": "v", "schedule": "s"}]})";
  }
  ~Tune() override { llvm::sys::fs::remove(path); }

  llvm::Expected<std::vector<TuningReport>> run(unsigned others) {
    auto getTolerance = [](const runtime::Tensor &) {
      return Tolerance{1e-5, 1e-4};
    };
    auto mayGoOn = [&] { return others && others--; };
    auto say = [&](StringRef line) { said.push_back(line.str()); };
    return tune({*source, signature, compile, *device, inputs, results,
                 getTolerance, std::string(path), mayGoOn, say});
  }

  CompileOptions compile;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> source;
  Signature signature;
  std::unique_ptr<runtime::Device> device;
  std::vector<runtime::Tensor> inputs, results;
  llvm::SmallString<128> path;
  std::vector<std::string> said;
};
} // namespace

TEST_F(Tune, mergesWhatItFinds) {
  auto reports = run(/*others=*/4);
  ASSERT_TRUE(bool(reports)) << llvm::toString(reports.takeError());
  ASSERT_EQ(reports->size(), 1u);
  const TuningReport &report = reports->front();
  // The start, four others, and both once more if one was faster.
  EXPECT_EQ(report.trials, said.size() - 1);
  EXPECT_TRUE(report.trials == 5 || report.trials == 7) << report.trials;
  // No neighbour computes something else.
  for (const std::string &line : said)
    EXPECT_EQ(line.find("rejected"), std::string::npos) << line;
  auto database = TuningDatabase::read(path, context.get());
  ASSERT_TRUE(bool(database)) << llvm::toString(database.takeError());
  ASSERT_EQ(database->getEntries().size(), 2u);
  EXPECT_EQ(database->getEntries()[0].problem, "p");
  const TuningEntry &entry = database->getEntries()[1];
  EXPECT_EQ(entry.problem, report.problem);
  EXPECT_EQ(entry.schedule, report.schedule);
  EXPECT_EQ(entry.chip, "sm_90a");
  EXPECT_EQ(entry.rows, 7);
  EXPECT_EQ(entry.device, device->getProperties().name);
  // The module itself is as it was.
  std::string printed;
  llvm::raw_string_ostream(printed) << *source;
  EXPECT_EQ(printed.find("mixed_reduction"), std::string::npos);
}

TEST_F(Tune, rejectsAllThatDiffers) {
  // The results of other inputs: even the start is wrong.
  RunnerOptions other;
  other.seed = 1;
  inputs = llvm::cantFail(makeInputs(other, signature));
  auto reports = run(/*others=*/0);
  EXPECT_EQ(
      llvm::toString(reports.takeError()).substr(0, 66),
      "the untuned schedule is rejected: result 0 is off from the untuned");
}

TEST_F(Tune, keepsAFileThatIsNoDatabase) {
  std::error_code code;
  llvm::raw_fd_ostream(path, code) << "notes";
  auto reports = run(/*others=*/0);
  EXPECT_NE(llvm::toString(reports.takeError()).find("isn't JSON"),
            std::string::npos);
  EXPECT_TRUE(said.empty());
  EXPECT_EQ((*llvm::MemoryBuffer::getFile(path))->getBuffer(), "notes");
}
