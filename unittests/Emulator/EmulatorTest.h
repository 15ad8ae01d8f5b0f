//===- EmulatorTest.h - Running kernels in tests ----------------*- C++ -*-===//
//
// A test gives the body of a kernel in the NVVM dialect; this wraps it in a
// gpu.module, compiles it for the emulator and launches it.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_UNITTESTS_EMULATOR_EMULATORTEST_H
#define NORM_FUSION_UNITTESTS_EMULATOR_EMULATORTEST_H

#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"
#include "norm_fusion/Runtime/Device.h"
#include "norm_fusion/Target/Emulator/Target.h"
#include "gtest/gtest.h"

namespace mlir::norm_fusion::runtime {

/// The object file of `text` (the inside of a gpu.module); what was emitted as
/// errors goes to `errors`.
inline std::optional<SmallVector<char, 0>> compileText(StringRef text,
                                                       std::string &errors) {
  static MLIRContext *context = [] {
    DialectRegistry registry;
    registry.insert<gpu::GPUDialect, LLVM::LLVMDialect, NVVM::NVVMDialect,
                    NormFusionDialect, DLTIDialect>();
    registerEmulatorTargetInterfaceExternalModels(registry);
    auto *context = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    return context;
  }();
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.str() + "\n";
  });
  std::string whole = ("module { gpu.module @m {\n" + text + "\n} }").str();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(whole, context);
  if (!module)
    return std::nullopt;
  gpu::GPUModuleOp kernels = *module->getOps<gpu::GPUModuleOp>().begin();
  return emulator::compileModule(kernels, "");
}

/// A kernel `k` that takes a pointer to global memory %p, with %tid, %lane
/// and %cta (all i32) and constants %c0, %c1, %c31, %all at hand. `globals`
/// stands in front of it.
inline std::string wrapKernel(StringRef body, StringRef globals = "",
                              StringRef attributes = "") {
  return (globals + R"(
    llvm.func @k(%p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel)" +
          attributes + R"(} {
      %tid = nvvm.read.ptx.sreg.tid.x : i32
      %lane = nvvm.read.ptx.sreg.laneid : i32
      %cta = nvvm.read.ptx.sreg.ctaid.x : i32
      %c0 = llvm.mlir.constant(0 : i32) : i32
      %c1 = llvm.mlir.constant(1 : i32) : i32
      %c31 = llvm.mlir.constant(31 : i32) : i32
      %all = llvm.mlir.constant(-1 : i32) : i32
      )" + body +
          R"(
      llvm.return
    })")
      .str();
}

class EmulatorTest : public ::testing::Test {
protected:
  void open(StringRef options = "") {
    auto parsed = EmulatorOptions::parse(options);
    ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
    auto created = createEmulatorDevice(*parsed);
    ASSERT_TRUE(bool(created)) << llvm::toString(created.takeError());
    device = std::move(*created);
  }

  void SetUp() override { open(); }

  /// Compiles and loads the kernel `k`.
  llvm::Expected<KernelHandle> load(StringRef text) {
    std::string errors;
    auto object = compileText(text, errors);
    if (!object)
      return llvm::createStringError("compile: " + errors);
    auto module = device->loadModule(*object);
    if (!module)
      return module.takeError();
    return device->getKernel(*module, "k");
  }

  /// Compiles and launches; the message of what went wrong, or "".
  std::string run(StringRef text, LaunchConfig config, size_t words = 1024) {
    auto kernel = load(text);
    if (!kernel)
      return llvm::toString(kernel.takeError());
    return launch(*kernel, config, words);
  }

  std::string launch(KernelHandle kernel, LaunchConfig config, size_t words) {
    auto memory = device->allocate(words * 4, false);
    if (!memory)
      return llvm::toString(memory.takeError());
    void *pointer = *memory;
    if (llvm::Error error = device->fill32(pointer, 0, words, nullptr))
      return llvm::toString(std::move(error));
    void *arguments[] = {&pointer};
    llvm::Error error = device->launch(kernel, config, arguments, nullptr);
    result.assign(static_cast<uint32_t *>(pointer),
                  static_cast<uint32_t *>(pointer) + words);
    device->deallocate(pointer);
    return llvm::toString(std::move(error));
  }

  static LaunchConfig grid(unsigned blocks, unsigned threads,
                           unsigned cluster = 1, bool cooperative = false) {
    LaunchConfig config;
    config.grid.x = blocks;
    config.block.x = threads;
    config.cluster.x = cluster;
    config.cooperative = cooperative;
    return config;
  }

  static ::testing::AssertionResult contains(const std::string &text,
                                             StringRef part) {
    if (StringRef(text).contains(part))
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << "'" << text << "' doesn't hold '" << part.str() << "'";
  }

  std::unique_ptr<Device> device;
  std::vector<uint32_t> result;
};

} // namespace mlir::norm_fusion::runtime

#endif // NORM_FUSION_UNITTESTS_EMULATOR_EMULATORTEST_H
