//===- Triad.cpp - What memory allows -------------------------------------===//
//
// A kernel that reads two arrays and writes one: no kernel that moves as many
// bytes is expected to be faster. It is compiled through the same passes as
// ours, in a few variants, and the fastest counts.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/Benchmark.h"
#include "norm_fusion/Runner/Error.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runner;
using llvm::Error;
using llvm::Expected;

static constexpr unsigned threads = 256;
static constexpr unsigned unrolls[] = {1, 2, 4};
static constexpr unsigned vectorBytes = 16;

/// A kernel whose threads each handle `unroll` vectors a step, a block apart,
/// and walk the arrays by the size of the grid.
static std::string getKernel(unsigned unroll) {
  std::string loads, stores;
  for (unsigned u = 0; u < unroll; ++u) {
    loads += llvm::formatv(R"(
        %o{0} = arith.constant {1} : i64
        %i{0} = arith.addi %i, %o{0} : i64
        %pa{0} = llvm.getelementptr %a[%i{0}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xf32>
        %pb{0} = llvm.getelementptr %b[%i{0}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xf32>
        %va{0} = llvm.load %pa{0} {{alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
        %vb{0} = llvm.load %pb{0} {{alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>)",
                           u, u * threads);
    stores += llvm::formatv(R"(
        %s{0} = arith.mulf %vb{0}, %three : vector<4xf32>
        %v{0} = arith.addf %va{0}, %s{0} : vector<4xf32>
        %pc{0} = llvm.getelementptr %c[%i{0}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xf32>
        llvm.store %v{0}, %pc{0} {{alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>)",
                            u);
  }
  return llvm::formatv(R"(
    gpu.func @triad_{0}(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>, %n: i64) kernel {{
      %three = arith.constant dense<3.0> : vector<4xf32>
      %tid = gpu.thread_id x
      %bid = gpu.block_id x
      %blocks = gpu.grid_dim x
      %chunk = arith.constant {1} : index
      %base = arith.muli %bid, %chunk : index
      %first = arith.addi %base, %tid : index
      %step = arith.muli %blocks, %chunk : index
      %from = arith.index_cast %first : index to i64
      %by = arith.index_cast %step : index to i64
      scf.for %i = %from to %n step %by : i64 {{{2}{3}
      }
      gpu.return
    })",
                       unroll, unroll * threads, loads, stores);
}

Expected<double> mlir::norm_fusion::runner::timeTriad(
    runtime::Device &device, runtime::StreamHandle stream, StringRef chip,
    size_t bytes, unsigned sets, unsigned calls) {
  std::string kernels;
  for (unsigned unroll : unrolls)
    kernels += getKernel(unroll);
  Expected<std::string> image =
      compileDeviceModule(kernels, chip, device.isEmulator());
  if (!image)
    return image.takeError();
  // PTX is passed with its terminating zero.
  Expected<runtime::ModuleHandle> module = device.loadModule(
      ArrayRef<char>(image->c_str(), image->size() + !device.isEmulator()));
  if (!module)
    return module.takeError();

  // Whole steps of the widest variant: within a few kilobytes of `bytes`.
  size_t chunk = threads * unrolls[std::size(unrolls) - 1];
  int64_t vectors =
      std::max<int64_t>(1, (bytes / 3 / vectorBytes + chunk / 2) / chunk) *
      chunk;
  size_t arrayBytes = vectors * vectorBytes;
  std::vector<std::array<void *, 3>> arrays;
  Arena arena(&device, /*hostVisible=*/false);
  for (unsigned i = 0; i < sets; ++i) {
    arrays.emplace_back();
    for (void *&array : arrays.back()) {
      Expected<void *> memory = arena.allocate(arrayBytes);
      if (!memory)
        return memory.takeError();
      array = *memory;
      if (Error error = device.fill32(array, 0, arrayBytes / 4, stream))
        return std::move(error);
    }
  }
  if (Error error = device.synchronize(stream))
    return std::move(error);

  double best = 0;
  for (unsigned unroll : unrolls) {
    Expected<runtime::KernelHandle> kernel =
        device.getKernel(*module, "triad_" + std::to_string(unroll));
    if (!kernel)
      return kernel.takeError();
    uint64_t whole = vectors / (threads * unroll);
    uint64_t resident = 8ull * device.getProperties().multiprocessors;
    for (uint64_t blocks : {whole, std::min(whole, resident)}) {
      runtime::LaunchConfig launch;
      launch.grid.x = blocks;
      launch.block.x = threads;
      Expected<Timing> timing =
          timeGraph(device, stream, calls, [&](unsigned i) {
            std::array<void *, 3> &set = arrays[i % sets];
            void *arguments[] = {&set[0], &set[1], &set[2], &vectors};
            return device.launch(*kernel, launch, arguments, stream);
          });
      if (!timing)
        return timing.takeError();
      if (best == 0 || timing->medianUs < best)
        best = timing->medianUs;
    }
  }
  return best;
}
