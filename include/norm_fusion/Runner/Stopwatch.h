//===- Stopwatch.h - Wall time since its construction -----------*- C++ -*-===//

#ifndef NORM_FUSION_RUNNER_STOPWATCH_H
#define NORM_FUSION_RUNNER_STOPWATCH_H

#include <chrono>

namespace mlir::norm_fusion::runner {

class Stopwatch {
public:
  double getMs() const {
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now() - start)
        .count();
  }

private:
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_STOPWATCH_H
