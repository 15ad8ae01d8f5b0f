//===- Compile.h - From a file to code that can be called -------*- C++ -*-===//
//
// Parses a module, finds the function to run, and lowers: with mixed reductions
// fused, or plainly, in its own types or widened to f64.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_RUNNER_COMPILE_H
#define NORM_FUSION_RUNNER_COMPILE_H

#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h"
#include "norm_fusion/Runtime/Tensor.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

namespace mlir::norm_fusion::runner {
struct RunnerOptions;

/// Type of an argument or result: a tensor, or a scalar.
struct ValueType {
  runtime::ElementType type;
  SmallVector<int64_t, 4> shape; ///< ShapedType::kDynamic where unknown
  bool isScalar = false;

  std::string str() const; ///< "tensor<?x8xf32>", "f32"
};

struct Signature {
  std::string name;
  std::vector<ValueType> arguments, results;
  /// Arguments that are buffers which the function may write to.
  std::vector<unsigned> buffers;
  /// These, and tensors that the function says it may write to.
  std::vector<unsigned> written;

  /// What a call gives: the results, then what it leaves in the buffers.
  std::vector<ValueType> getOutputs() const;
};

/// What the report says of a kernel; the launch fills in the rest.
struct KernelRecord {
  std::string name;
  std::string schedule; ///< as text; empty: none of its own
  llvm::json::Object fields;
};

struct CompileOptions {
  std::string chip = "sm_90a";
  unsigned memoryBandwidth = 0; ///< in GB/s; 0: of the chip's usual part
  std::string schedule;
  std::string tuning; ///< file of tuned schedules
  bool batchInvariant = false;
  bool rowOnly = false;
  Profit profit = Profit::automatic;
  bool verifyEach = false; ///< the module, behind each pass
  bool emulator = true;
  /// What isn't fused runs as simple kernels, not on the host.
  bool plainOnDevice = false;
  /// Chosen schedules whose kernels were found to spill, and bytes a thread:
  /// smaller ones are taken.
  llvm::StringMap<unsigned> spilling;
};

/// A schedule that spills.
struct SpillRecord {
  std::string schedule;
  unsigned bytes;      ///< a thread
  std::string instead; ///< what was taken in its place; empty: it was kept
};

/// Schedule, tuning and form options of the command line into `compile`.
llvm::Error readCompileOptions(const RunnerOptions &options,
                               CompileOptions &compile);

struct CompiledModule {
  OwningOpRef<ModuleOp> module; ///< in the LLVM dialect
  unsigned fused = 0;
  /// Host code does more than allocate and launch.
  bool hostTouchesMemory = true;
  std::vector<KernelRecord> kernels;
  llvm::StringSet<> plainKernels; ///< names of those of what isn't fused
  std::vector<SpillRecord> spills; ///< of CompileOptions::spilling
  llvm::StringSet<> shrinkable; ///< schedules that there are smaller ones for
  double totalMs = 0, ptxMs = 0;
};

/// Creates a context with the dialects that the runner accepts.
std::unique_ptr<MLIRContext> createContext();

/// Collects remarks of the category norm-fusion in `text` as YAML, until
/// finishRemarks().
void startRemarks(MLIRContext &context, std::string &text);
void finishRemarks(MLIRContext &context);

/// `text` gets what the file holds: a pipe can be read once alone.
llvm::Expected<OwningOpRef<ModuleOp>>
parseModule(MLIRContext &context, StringRef path, std::string *text = nullptr);
/// `name` empty: the only public function.
llvm::Expected<Signature> findEntry(ModuleOp module, StringRef name);

/// True for a module that comes with kernels: lowered by norm-fusion-to-gpu
/// before, or launches of its own. They run on the device in any case.
bool hasKernels(ModuleOp module);

/// Forms, splits and schedules mixed reductions, in place; still on tensors.
llvm::Error fuse(ModuleOp module, const CompileOptions &options);

/// Up to binaries of the kernels, in host code on memrefs; consumes `module`.
/// Where there are no kernels it's still on tensors.
llvm::Expected<CompiledModule> compileKernels(OwningOpRef<ModuleOp> module,
                                              const CompileOptions &options);
/// Down to host code that can be called; consumes `module`.
llvm::Expected<CompiledModule> compileFused(OwningOpRef<ModuleOp> module,
                                            const CompileOptions &options);
/// Nothing fused, for the host or the device as `options` say for what isn't;
/// `widen`: every float as f64.
llvm::Expected<CompiledModule> compilePlain(OwningOpRef<ModuleOp> module,
                                            bool widen,
                                            const CompileOptions &options);

/// An image of `kernels`, the text of gpu.funcs in LLVM's types.
llvm::Expected<std::string> compileDeviceModule(StringRef kernels,
                                                StringRef chip, bool emulator);

/// "k=v k=v" as an object; numbers as numbers.
llvm::json::Object parseFields(StringRef text);

/// Iterations of the longest reduction, every dynamic one taken for `dynamic`.
int64_t getReductionLength(ModuleOp module, int64_t dynamic);
/// True if an integer somewhere comes from rounding a float.
bool roundsToIntegers(ModuleOp module);

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_COMPILE_H
