//===- Target.cpp - #norm_fusion.emulator_target --------------------------===//
//
// Makes the emulator a target of `gpu-module-to-binary`, as NVVM is one: the
// gpu.module, already in the NVVM dialect, is translated to LLVM IR as for PTX,
// rewritten to call the emulator, optimised and compiled for the host. The
// object that results is what the emulator's Device::loadModule() takes.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Target/Emulator/Target.h"

#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include <mutex>

using namespace mlir;
using namespace mlir::norm_fusion;

//===----------------------------------------------------------------------===//
// LLVM IR to an object file
//===----------------------------------------------------------------------===//

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createHostMachine(StringRef cpu) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return llvm::createStringError(message);
  llvm::SubtargetFeatures features;
  if (cpu.empty()) {
    cpu = llvm::sys::getHostCPUName();
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      features.AddFeature(feature.first(), feature.second);
  }
  // Their conversions to bf16 flush denormals.
  features.AddFeature("avx512bf16", false);
  features.AddFeature("avxneconvert", false);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, cpu, features.getString(), llvm::TargetOptions(),
      llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default,
      /*JIT=*/true));
  if (!machine)
    return llvm::createStringError("no code generator for '" + cpu + "'");
  return machine;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  // Loops call the emulator for each access; vectorising them is no use.
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, mam);
}

static llvm::Expected<SmallVector<char, 0>>
emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("the host can't emit object files");
  passes.run(module);
  return object;
}

//===----------------------------------------------------------------------===//
// A gpu.module
//===----------------------------------------------------------------------===//

static std::optional<SmallVector<char, 0>>
compile(Operation *gpuModule, StringRef cpu,
        const gpu::TargetOptions *options) {
  // NVVM ops without an intrinsic become inline PTX, as on the way to PTX.
  OwningOpRef<Operation *> clone(gpuModule->clone());
  RewritePatternSet patterns(gpuModule->getContext());
  populateNVVMToLLVMConversionPatterns(patterns);
  if (failed(applyPatternsGreedily(clone.get(), std::move(patterns)))) {
    gpuModule->emitError("can't lower the NVVM ops for the emulator");
    return std::nullopt;
  }
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(clone.get(), context);
  if (!module) {
    gpuModule->emitError("can't translate the module to LLVM IR");
    return std::nullopt;
  }
  auto fail = [&](llvm::Error error) {
    gpuModule->emitError(llvm::toString(std::move(error)));
    return std::nullopt;
  };
  auto machine = createHostMachine(cpu);
  if (!machine)
    return fail(machine.takeError());
  module->setDataLayout((*machine)->createDataLayout());
  module->setTargetTriple((*machine)->getTargetTriple());
  if (options && options->getInitialLlvmIRCallback())
    options->getInitialLlvmIRCallback()(*module);
  if (llvm::Error error = emulator::lowerDeviceModule(*module))
    return fail(std::move(error));
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(*module, &stream))
    return fail(llvm::createStringError(
        "lowering for the emulator gave wrong LLVM IR: " + text));
  optimize(*module, **machine);
  if (options && options->getOptimizedLlvmIRCallback())
    options->getOptimizedLlvmIRCallback()(*module);
  auto object = emitObject(*module, **machine);
  if (!object)
    return fail(object.takeError());
  return std::move(*object);
}

std::optional<SmallVector<char, 0>>
emulator::compileModule(Operation *gpuModule, StringRef cpu) {
  return compile(gpuModule, cpu, nullptr);
}

//===----------------------------------------------------------------------===//
// The attribute's interface
//===----------------------------------------------------------------------===//

namespace {
struct EmulatorTarget
    : gpu::TargetAttrInterface::FallbackModel<EmulatorTarget> {
  std::optional<SmallVector<char, 0>>
  serializeToObject(Attribute attribute, Operation *module,
                    const gpu::TargetOptions &options) const {
    return compile(module, cast<EmulatorTargetAttr>(attribute).getCpu(),
                   &options);
  }

  Attribute createObject(Attribute attribute, Operation *module,
                         const SmallVector<char, 0> &object,
                         const gpu::TargetOptions &options) const {
    // Always loaded as a whole, whatever format was asked for.
    Builder builder(attribute.getContext());
    return gpu::ObjectAttr::get(
        attribute.getContext(), attribute, gpu::CompilationTarget::Binary,
        builder.getStringAttr(StringRef(object.data(), object.size())),
        /*properties=*/nullptr, /*kernels=*/nullptr);
  }
};
} // namespace

void norm_fusion::registerEmulatorTargetInterfaceExternalModels(
    DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registry.addExtension(+[](MLIRContext *context, NormFusionDialect *dialect) {
    EmulatorTargetAttr::attachInterface<EmulatorTarget>(*context);
  });
}
