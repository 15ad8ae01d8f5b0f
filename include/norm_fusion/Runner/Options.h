//===- Options.h - The runner's command line --------------------*- C++ -*-===//

#ifndef NORM_FUSION_RUNNER_OPTIONS_H
#define NORM_FUSION_RUNNER_OPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::norm_fusion::runner {

struct RunnerOptions {
  std::string file;
  std::string entry;
  std::string formOptions;
  std::string device = "auto";
  std::string chip;
  std::optional<unsigned> memoryBandwidth; ///< in GB/s
  std::string schedule;
  bool batchInvariant = false;
  std::string tuning;
  std::string tune;
  double tuneSeconds = 300;
  std::string emulator;
  std::string plain = "auto";
  std::vector<std::string> inputs;
  uint64_t seed = 0;
  std::vector<int64_t> dims;
  std::vector<std::string> expected;
  bool check = false;
  std::optional<double> rtol, atol;
  std::vector<std::string> outputs;
  unsigned repeat = 1;
  bool bitwise = false;
  bool benchmark = false;
  bool verifyEach = false;
  std::string json;
  std::string emitBundle;
  std::string remarks;
  bool help = false;
  bool version = false;
};

/// Fails with exit code 2 and one line that names the option.
llvm::Expected<RunnerOptions>
parseRunnerOptions(llvm::ArrayRef<const char *> arguments);
void printHelp(llvm::raw_ostream &os);

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_OPTIONS_H
