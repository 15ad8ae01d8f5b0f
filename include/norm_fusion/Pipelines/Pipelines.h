//===- Pipelines.h - From linalg on tensors to binaries ---------*- C++ -*-===//
//
// The compositions of our passes and upstream's: options, builders, and their
// registration under names.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_PIPELINES_PIPELINES_H
#define NORM_FUSION_PIPELINES_PIPELINES_H

#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::norm_fusion {

inline llvm::cl::ValuesClass getProfitValues() {
  return llvm::cl::values(
      clEnumValN(Profit::automatic, "auto", "those that are worth it"),
      clEnumValN(Profit::always, "always", "all"),
      clEnumValN(Profit::never, "never", "none"));
}

/// What decides how groups are formed and scheduled; `OptionsT` is the pipeline
/// that has these options.
template <typename OptionsT>
struct FuseOptionsBase : PassPipelineOptions<OptionsT> {
  template <typename T>
  using Option = typename PassPipelineOptions<OptionsT>::template Option<T>;

  Option<std::string> chip{*this, "chip", llvm::cl::desc("Chip to compile for"),
                           llvm::cl::init("sm_90a")};
  Option<unsigned> memoryBandwidth{
      *this, "memory-bandwidth",
      llvm::cl::desc("Of the device's memory in GB/s; 0: that of the chip's "
                     "usual part"),
      llvm::cl::init(0)};
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("Schedule fields to override: \"k=v k=v\""),
      llvm::cl::init("")};
  Option<std::string> tuning{
      *this, "tuning",
      llvm::cl::desc(
          "Database of tuned schedules, of norm-fusion-runner --tune"),
      llvm::cl::init("")};
  Option<bool> batchInvariant{
      *this, "batch-invariant",
      llvm::cl::desc("The same bits of column results on all devices"),
      llvm::cl::init(false)};
  Option<bool> rowOnly{
      *this, "row-only",
      llvm::cl::desc("Form groups of row reductions alone too"),
      llvm::cl::init(false)};
  Option<Profit> profit{*this, "profit",
                        llvm::cl::desc("Which legal groups to form"),
                        llvm::cl::init(Profit::automatic), getProfitValues()};
};

/// Options of `norm-fusion-fuse`.
struct FuseOptions : FuseOptionsBase<FuseOptions> {};

/// The formats of gpu-module-to-binary, which takes any word for one.
enum class KernelFormat { isa, bin, fatbin };

/// What runs what isn't fused.
enum class PlainTarget { automatic, host, device };

/// Options of `norm-fusion-lower`.
struct LowerOptions : FuseOptionsBase<LowerOptions> {
  Option<KernelFormat> format{
      *this, "format", llvm::cl::desc("What kernels become"),
      llvm::cl::init(KernelFormat::isa),
      llvm::cl::values(clEnumValN(KernelFormat::isa, "isa", "PTX"),
                       clEnumValN(KernelFormat::bin, "bin", "cubin"),
                       clEnumValN(KernelFormat::fatbin, "fatbin",
                                  "PTX and cubin"))};
  Option<std::string> target{
      *this, "target", llvm::cl::desc("Who runs the kernels: nvvm or emulator"),
      llvm::cl::init("nvvm")};
  Option<PlainTarget> plain{
      *this, "plain", llvm::cl::desc("What runs what isn't fused"),
      llvm::cl::init(PlainTarget::automatic),
      llvm::cl::values(clEnumValN(PlainTarget::automatic, "auto",
                                  "the host for the emulator, else the device"),
                       clEnumValN(PlainTarget::host, "host", "the host"),
                       clEnumValN(PlainTarget::device, "device",
                                  "the device, in simple kernels"))};
  Option<std::string> toolkit{
      *this, "toolkit",
      llvm::cl::desc("Folder of the CUDA Toolkit, for bin and fatbin"),
      llvm::cl::init("")};
};

/// Linalg on tensors to linalg on tensors with scheduled mixed reductions.
void buildFusePipeline(OpPassManager &pm, const FuseOptions &options);

/// Tensors to memrefs, with what must be done on tensors first.
void buildBufferizePipeline(OpPassManager &pm);

/// Mixed reductions and, if the options say so, what isn't fused, bufferized:
/// into `gpu.module`s of device code in the LLVM and NVVM dialects, each with
/// the target that serializes it, and their launches.
void buildDevicePipeline(OpPassManager &pm, const LowerOptions &options);

/// Whether buildDevicePipeline takes what isn't fused too.
bool runsPlainOnDevice(const LowerOptions &options);

/// Everything else, bufferized: to the LLVM dialect for the host. Asserts that
/// views, and what bodies read by index, are within their buffers, if the
/// memref dialect's models of RuntimeVerifiableOpInterface are registered.
void buildHostPipeline(OpPassManager &pm);

/// Nothing fused, still on tensors: mixed reductions become linalg.
void buildUnfusePipeline(OpPassManager &pm);

/// Unfuse, bufferize and host: any module.
void buildPlainHostPipeline(OpPassManager &pm);

/// Device code to binaries, by each module's target.
void buildBinaryPipeline(OpPassManager &pm, const LowerOptions &options);

/// Host code around launches of binaries to the LLVM dialect.
void buildHostWithLaunchesPipeline(OpPassManager &pm);

/// All of it.
void buildLowerPipeline(OpPassManager &pm, const LowerOptions &options);

/// `norm-fusion-fuse`, `norm-fusion-lower` and `norm-fusion-plain-host`.
void registerPipelines();

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_PIPELINES_PIPELINES_H
