//===- Pipelines.cpp - From linalg on tensors to binaries -----------------===//
//
// The order of things, and why. Fusing works on tensors, before anything else
// touches the dataflow. Float emulation comes after kernels have been taken
// out: they know what the device can do. Host code is lowered last, because the
// launches in it refer to serialized kernels.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Pipelines/Pipelines.h"
#include "norm_fusion/Conversion/Passes.h"
#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/RequestCWrappers.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::norm_fusion;

void mlir::norm_fusion::buildFusePipeline(OpPassManager &pm,
                                          const FuseOptions &options) {
  // Private helpers (jnp.var, jnp.clip) split a pattern until they're inlined.
  pm.addPass(createNormFusionInline());
  NormFusionFormOptions form;
  form.rowOnly = options.rowOnly;
  form.profit = options.profit;
  form.chip = options.chip;
  pm.addPass(createNormFusionForm(form));
  pm.addPass(createNormFusionPartialAccumulate());
  NormFusionScheduleOptions schedule;
  schedule.chip = options.chip;
  schedule.memoryBandwidth = options.memoryBandwidth;
  schedule.schedule = options.schedule;
  schedule.tuning = options.tuning;
  schedule.batchInvariant = options.batchInvariant;
  pm.addPass(createNormFusionSchedule(schedule));
}

void mlir::norm_fusion::buildBufferizePipeline(OpPassManager &pm) {
  pm.addPass(createNormFusionReserveNames());
  // What the schedule pass found no kernel for goes the plain way.
  NormFusionToLinalgOptions toLinalg;
  toLinalg.unscheduledOnly = true;
  pm.addPass(createNormFusionToLinalg(toLinalg));
  pm.addPass(createNormFusionDecomposeAggregates());
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  pm.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
  // Scalars boxed in tensors would become allocations in the innermost loop.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createNormFusionProtectArguments());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.allowReturnAllocsFromLoops = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addPass(createNormFusionAllocateOnHeap());
  pm.addPass(createNormFusionCheckShapes());
  pm.addPass(createNormFusionExpandReshapes());
  // Before anyone declares a function of the runtime: those have no wrapper.
  pm.addNestedPass<func::FuncOp>(LLVM::createLLVMRequestCWrappersPass());
}

/// Functions of narrow floats, too, before these are widened: what is normal,
/// and where a power is rounded, depends on the type.
static void addTypedMathPasses(OpPassManager &function) {
  NormFusionExpandMathOptions ofAnyFloat;
  ofAnyFloat.ops = {"clampf", "fpowi", "isnormal"};
  function.addPass(createNormFusionExpandMath(ofAnyFloat));
}

/// Floats that not every machine computes with become those that it does.
static void addFloatPasses(OpPassManager &function) {
  // Scaling conversions are several ops on narrow floats.
  function.addPass(createNormFusionExpandFloatConversions());
  // Narrow floats compute in f32 and are rounded after every op, as the IR says.
  function.addPass(createNormFusionEmulateFloats());
}

/// Views and affine maps become arithmetic.
static void addAddressPasses(OpPassManager &pm) {
  pm.addPass(createLowerAffinePass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
}

/// What isn't fused, as launches of simple kernels.
static void addPlainKernelPasses(OpPassManager &pm) {
  OpPassManager &function = pm.nest<func::FuncOp>();
  addFloatPasses(function);
  function.addPass(createNormFusionExpandFloatConversions());
  function.addPass(createNormFusionExpandMath());
  pm.addPass(createNormFusionPlainToGPU());
  OpPassManager &loops = pm.nest<func::FuncOp>();
  loops.addPass(createCanonicalizerPass());
  loops.addPass(createCSEPass());
  addAddressPasses(loops);
  loops.addPass(createGpuLaunchSinkIndexComputationsPass());
  pm.addPass(createGpuKernelOutliningPass());
}

bool mlir::norm_fusion::runsPlainOnDevice(const LowerOptions &options) {
  return options.plain == PlainTarget::automatic
             ? options.target != "emulator"
             : options.plain == PlainTarget::device;
}

void mlir::norm_fusion::buildDevicePipeline(OpPassManager &pm,
                                            const LowerOptions &options) {
  // The module's own launches, wherever plain ops run.
  pm.addPass(createGpuKernelOutliningPass());
  pm.addPass(createNormFusionCopyConstants());
  addTypedMathPasses(pm.nest<func::FuncOp>());
  // libdevice's powi takes an i32 exponent, front ends give an i64.
  math::MathExpandOpsPassOptions powers;
  powers.opMnemonics = {"fpowi"};
  pm.addNestedPass<func::FuncOp>(math::createMathExpandOpsPass(powers));
  // The module's own kernels; ours need none of it.
  OpPassManager &given = pm.nest<gpu::GPUModuleOp>();
  given.addPass(createConvertLinalgToLoopsPass());
  addAddressPasses(given);
  given.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createNormFusionToGPU());
  if (runsPlainOnDevice(options))
    addPlainKernelPasses(pm);
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  NormFusionExpandFloatConversionsOptions conversions;
  conversions.chip = std::string(options.chip);
  device.addPass(createNormFusionExpandFloatConversions(conversions));
  device.addPass(createSCFToControlFlowPass());
  ConvertGpuOpsToNVVMOpsOptions toNVVM;
  toNVVM.indexBitwidth = 64;
  device.addPass(createConvertGpuOpsToNVVMOps(toNVVM));
  device.addPass(createConvertMathToLLVMPass()); // what libdevice lacks
  device.addPass(createCSEPass());
  device.addPass(createConvertNVVMToLLVMPass());
  device.addPass(createReconcileUnrealizedCastsPass());
  NormFusionAttachTargetOptions attach;
  attach.chip = options.chip;
  attach.target = options.target;
  attach.toolkit = std::string(options.toolkit);
  pm.addPass(createNormFusionAttachTarget(attach));
}

/// Asserts that views, and what bodies read by index, are within their buffers.
/// Sizes that are known need no assertion.
static void addBoundsChecks(OpPassManager &function) {
  auto verify = createGenerateRuntimeVerificationPass();
  // The place, without the text of the op.
  LogicalResult isSet = verify->initializeOptions(
      "verbose-level=0", [](const Twine &) { return failure(); });
  assert(succeeded(isSet) && "expected the pass to have this option");
  (void)isSet;
  function.addPass(std::move(verify));
  function.addPass(createCanonicalizerPass());
}

void mlir::norm_fusion::buildHostPipeline(OpPassManager &pm) {
  addBoundsChecks(pm.nest<func::FuncOp>());
  pm.addPass(createNormFusionAssertToCall());
  OpPassManager &function = pm.nest<func::FuncOp>();
  addTypedMathPasses(function);
  addFloatPasses(function);
  function.addPass(createConvertLinalgToLoopsPass());
  function.addPass(createNormFusionExpandFloatConversions());
  // Upstream writes the first two as exp and log and a sum: no digit of a small
  // operand is left; and has nothing for the other.
  NormFusionExpandMathOptions accurate;
  accurate.ops = {"expm1", "log1p", "isinf"};
  function.addPass(createNormFusionExpandMath(accurate));
  math::MathExpandOpsPassOptions expand;
  expand.opMnemonics = {"fpowi", "rsqrt", "roundeven"};
  function.addPass(math::createMathExpandOpsPass(expand));
  pm.addPass(memref::createExpandOpsPass());
  addAddressPasses(pm);
  pm.addPass(createConvertMathToFuncs()); // integer powers
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  // Allocations go through functions that the runner provides: it frees what
  // a call allocated once the results are copied out.
  FinalizeMemRefToLLVMConversionPassOptions memrefs;
  memrefs.useGenericFunctions = true;
  pm.addPass(createFinalizeMemRefToLLVMConversionPass(memrefs));
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertComplexToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
}

void mlir::norm_fusion::buildUnfusePipeline(OpPassManager &pm) {
  pm.addPass(createNormFusionInline());
  pm.addPass(createNormFusionToLinalg());
}

void mlir::norm_fusion::buildPlainHostPipeline(OpPassManager &pm) {
  buildUnfusePipeline(pm);
  buildBufferizePipeline(pm);
  buildHostPipeline(pm);
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void mlir::norm_fusion::buildBinaryPipeline(OpPassManager &pm,
                                            const LowerOptions &options) {
  NormFusionSerializeOptions serialize;
  // The emulator has one format, under the name that others give to assembly.
  KernelFormat format =
      options.target == "emulator" ? KernelFormat::isa : options.format;
  serialize.format = format == KernelFormat::isa   ? "isa"
                     : format == KernelFormat::bin ? "bin"
                                                   : "fatbin";
  serialize.toolkit = std::string(options.toolkit);
  pm.addPass(createNormFusionSerialize(serialize));
}

void mlir::norm_fusion::buildHostWithLaunchesPipeline(OpPassManager &pm) {
  buildHostPipeline(pm);
  pm.addPass(createGpuToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void mlir::norm_fusion::buildLowerPipeline(OpPassManager &pm,
                                           const LowerOptions &options) {
  FuseOptions fuse;
  fuse.chip = std::string(options.chip);
  fuse.memoryBandwidth = unsigned(options.memoryBandwidth);
  fuse.schedule = std::string(options.schedule);
  fuse.tuning = std::string(options.tuning);
  fuse.batchInvariant = bool(options.batchInvariant);
  fuse.rowOnly = bool(options.rowOnly);
  fuse.profit = Profit(options.profit);
  buildFusePipeline(pm, fuse);
  buildBufferizePipeline(pm);
  buildDevicePipeline(pm, options);
  buildBinaryPipeline(pm, options);
  buildHostWithLaunchesPipeline(pm);
}

namespace {
/// None: but without a type for them, upstream refuses any without a word.
struct PlainHostOptions : PassPipelineOptions<PlainHostOptions> {};
} // namespace

/// As upstream's PassPipelineRegistration, but nested under another op than a
/// module it is an error: adding the first pass would end the process.
template <typename OptionsT>
static void registerPipeline(StringRef name, StringRef description,
                             void (*build)(OpPassManager &, const OptionsT &)) {
  registerPassPipeline(
      name, description,
      [name, build](OpPassManager &pm, StringRef text,
                    llvm::function_ref<LogicalResult(const Twine &)> fail)
          -> LogicalResult {
        OptionsT options;
        if (failed(options.parseFromString(text)))
          return failure();
        if (std::optional<StringRef> op = pm.getOpName();
            op && *op != ModuleOp::getOperationName())
          return fail("'" + name + "' is nested under '" + *op +
                      "', expected '" + ModuleOp::getOperationName() + "'");
        build(pm, options);
        return success();
      },
      [](llvm::function_ref<void(const detail::PassOptions &)> handle) {
        handle(OptionsT());
      });
}

void mlir::norm_fusion::registerPipelines() {
  registerPipeline<FuseOptions>(
      "norm-fusion-fuse",
      "Form, split and schedule mixed reductions; still on tensors",
      buildFusePipeline);
  registerPipeline<LowerOptions>(
      "norm-fusion-lower",
      "From linalg on tensors to gpu.binary and host code in the LLVM dialect",
      buildLowerPipeline);
  registerPipeline<PlainHostOptions>(
      "norm-fusion-plain-host",
      "Linalg on tensors to host code in the LLVM dialect, nothing fused",
      [](OpPassManager &pm, const PlainHostOptions &) {
        buildPlainHostPipeline(pm);
      });
}
