//===- Compile.cpp - From a file to code that can be called ---------------===//
//
// Runs the pipelines with diagnostics collected into errors. The context holds
// only the dialects that the pipelines pass through: a run is short, and
// starting up is much of it. Its threads start when there is more than one
// kernel to compile.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/Compile.h"
#include "norm_fusion/Conversion/Passes.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"
#include "norm_fusion/Pipelines/Pipelines.h"
#include "norm_fusion/Runner/DiagnosticCollector.h"
#include "norm_fusion/Runner/Options.h"
#include "norm_fusion/Runner/Stopwatch.h"
#include "norm_fusion/Runtime/Image.h"
#include "norm_fusion/Schedule/Tuning.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SourceMgr.h"
#include <functional>

using namespace mlir;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runner;
using llvm::Error;
using llvm::Expected;

std::string ValueType::str() const {
  std::string text;
  for (int64_t size : shape)
    text += (ShapedType::isDynamic(size) ? "?" : std::to_string(size)) + "x";
  text += runtime::getName(type).str();
  return isScalar ? text : "tensor<" + text + ">";
}

std::vector<ValueType> Signature::getOutputs() const {
  std::vector<ValueType> outputs = results;
  for (unsigned i : buffers)
    outputs.push_back(arguments[i]);
  return outputs;
}

static Error runPipeline(ModuleOp module, const CompileOptions &options,
                         llvm::function_ref<void(OpPassManager &)> build) {
  DiagnosticCollector diagnostics(module.getContext());
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  pm.enableVerifier(options.verifyEach);
  build(pm);
  if (failed(pm.run(module)))
    return diagnostics.takeError(ExitCode::compileFailed,
                                 "a pass failed and didn't say why");
  return Error::success();
}

Expected<OwningOpRef<ModuleOp>>
mlir::norm_fusion::runner::parseModule(MLIRContext &context, StringRef path,
                                       std::string *text) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return makeError(ExitCode::badInput,
                     path + ": " + buffer.getError().message());
  if (text)
    *text = (*buffer)->getBuffer().str();
  DiagnosticCollector diagnostics(&context);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), SMLoc());
  ParserConfig config(&context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, config);
  if (!module)
    return diagnostics.takeError(ExitCode::compileFailed,
                                 "the file isn't an MLIR module");
  return std::move(module);
}

Error mlir::norm_fusion::runner::readCompileOptions(
    const RunnerOptions &options, CompileOptions &compile) {
  compile.memoryBandwidth = options.memoryBandwidth.value_or(0);
  compile.schedule = options.schedule;
  compile.tuning = options.tuning;
  compile.batchInvariant = options.batchInvariant;
  compile.verifyEach = options.verifyEach;
  SmallVector<StringRef> fields;
  StringRef(options.formOptions).split(fields, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef field : fields) {
    if (field == "row-only=true" || field == "row-only")
      compile.rowOnly = true;
    else if (field == "row-only=false")
      compile.rowOnly = false;
    else if (field == "profit=auto")
      compile.profit = Profit::automatic;
    else if (field == "profit=always")
      compile.profit = Profit::always;
    else if (field == "profit=never")
      compile.profit = Profit::never;
    else
      return makeError(ExitCode::badInput,
                       "--form-options: unknown '" + field +
                           "', expected row-only=true|false or "
                           "profit=auto|always|never");
  }
  return Error::success();
}

/// None if the runner can't pass values of the type.
static std::optional<ValueType> getValueType(Type type) {
  ValueType value;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (tensor.getEncoding())
      return std::nullopt;
    value.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
  } else if (auto memref = dyn_cast<MemRefType>(type)) {
    if (!memref.getLayout().isIdentity())
      return std::nullopt;
    value.shape.assign(memref.getShape().begin(), memref.getShape().end());
  } else if (isa<ShapedType>(type)) {
    return std::nullopt;
  } else {
    value.isScalar = true;
  }
  Type element = getElementTypeOrSelf(type);
  std::string name;
  if (element.isIndex()) {
    name = "i64";
  } else if (isa<FloatType, IntegerType>(element)) {
    llvm::raw_string_ostream os(name);
    os << element;
  }
  std::optional<runtime::ElementType> parsed = runtime::parseElementType(name);
  if (!parsed)
    return std::nullopt;
  value.type = *parsed;
  return value;
}

/// True if `op`, a use of a buffer, only makes a tensor of what is in it.
static bool readsBuffer(Operation *op) {
  auto tensor = dyn_cast<bufferization::ToTensorOp>(op);
  return tensor && !tensor.getWritable();
}

/// Exit code 3 where data that is named isn't in the file.
static Error checkData(ModuleOp module) {
  DiagnosticCollector diagnostics(module.getContext());
  WalkResult result = module.walk([&](Operation *op) {
    for (NamedAttribute attr : op->getAttrs())
      if (auto data = dyn_cast<DenseResourceElementsAttr>(attr.getValue());
          data && !data.getRawHandle().getBlob()) {
        op->emitError() << "'" << data.getRawHandle().getKey()
                        << "' is used and isn't among the file's "
                           "dialect_resources, expected its data there";
        return WalkResult::interrupt();
      }
    auto global = dyn_cast<memref::GlobalOp>(op);
    if (!global || !global.isExternal() || global.symbolKnownUseEmpty(module))
      return WalkResult::advance();
    global.emitError() << "'" << global.getSymName()
                       << "' is used and has no value, expected one";
    return WalkResult::interrupt();
  });
  return result.wasInterrupted()
             ? diagnostics.takeError(ExitCode::compileFailed, "")
             : Error::success();
}

Expected<Signature> mlir::norm_fusion::runner::findEntry(ModuleOp module,
                                                         StringRef name) {
  if (Error error = checkData(module))
    return std::move(error);
  SmallVector<func::FuncOp> candidates;
  std::string names;
  for (auto function : module.getOps<func::FuncOp>()) {
    // Of what the runtime has, modules that are lowered in part declare some.
    if (function.isExternal() && !function.symbolKnownUseEmpty(module) &&
        !function.getName().starts_with("norm_fusion_"))
      return makeError(ExitCode::compileFailed,
                       "'" + function.getName() +
                           "' is used and has no body, expected one");
    if (function.isExternal() || !function.isPublic())
      continue;
    names += (names.empty() ? "" : ", ") + function.getName().str();
    if (name.empty() || function.getName() == name)
      candidates.push_back(function);
  }
  if (candidates.empty())
    return makeError(ExitCode::badInput,
                     name.empty()
                         ? Twine("the module has no public function with a body")
                         : "no public function '" + name +
                               "'; the module has: " + names);
  if (candidates.size() > 1)
    return makeError(ExitCode::badInput,
                     "several public functions; choose with --entry: " + names);
  func::FuncOp function = candidates.front();
  Signature signature;
  signature.name = function.getName().str();
  auto add = [&](TypeRange types, StringRef what,
                 std::vector<ValueType> &values) -> Error {
    for (auto [index, type] : llvm::enumerate(types)) {
      std::optional<ValueType> value = getValueType(type);
      if (!value) {
        std::string text;
        llvm::raw_string_ostream(text) << type;
        return makeError(ExitCode::compileFailed,
                         what + " " + Twine(index) + " of " + signature.name +
                             " has type " + text +
                             ", expected a ranked tensor, a memref without a "
                             "layout or a scalar of f64, f32, f16, bf16, "
                             "f8E4M3FN, f8E5M2, f8E8M0FNU, "
                             "i1, i8, i16, i32, i64 or index");
      }
      values.push_back(*value);
    }
    return Error::success();
  };
  if (Error error = add(function.getArgumentTypes(), "argument",
                        signature.arguments))
    return std::move(error);
  if (Error error =
          add(function.getResultTypes(), "result", signature.results))
    return std::move(error);
  // One-Shot Bufferize would read what is passed through it.
  constexpr StringRef layout =
      bufferization::BufferizationDialect::kBufferLayoutAttrName;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (Attribute attr = function.getArgAttr(i, layout)) {
      std::string text;
      llvm::raw_string_ostream(text) << attr;
      return makeError(ExitCode::compileFailed,
                       "argument " + Twine(i) + " of " + signature.name +
                           " has " + layout + " = " + text +
                           ", expected none: values are passed densely, in "
                           "row-major order");
    }
  constexpr StringRef writable =
      bufferization::BufferizationDialect::kWritableAttrName;
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (isa<MemRefType>(argument.getType()) &&
        !llvm::all_of(argument.getUsers(), readsBuffer)) {
      signature.buffers.push_back(i);
      signature.written.push_back(i);
    } else if (auto isWritten =
                   function.getArgAttrOfType<BoolAttr>(i, writable);
               isWritten && isWritten.getValue() &&
               isa<TensorType>(argument.getType())) {
      signature.written.push_back(i);
    }
  }
  return signature;
}

/// Attributes to JSON, as far as kernels are described with them.
static llvm::json::Value toJSON(Attribute attr) {
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return integer.getInt();
  if (auto text = dyn_cast<StringAttr>(attr))
    return llvm::json::fixUTF8(text.getValue());
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attr)) {
    llvm::json::Array values;
    for (int64_t value : array.asArrayRef())
      values.push_back(value);
    return values;
  }
  if (auto dictionary = dyn_cast<DictionaryAttr>(attr)) {
    llvm::json::Object object;
    for (NamedAttribute entry : dictionary)
      object[llvm::json::fixUTF8(entry.getName())] = toJSON(entry.getValue());
    return object;
  }
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  return llvm::json::fixUTF8(text);
}

llvm::json::Object mlir::norm_fusion::runner::parseFields(StringRef text) {
  llvm::json::Object object;
  std::string fixed = llvm::json::fixUTF8(text);
  text = fixed;
  SmallVector<StringRef> fields;
  text.split(fields, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef field : fields) {
    auto [key, value] = field.split('=');
    int64_t number;
    if (value.getAsInteger(10, number))
      object[key.str()] = value.str();
    else
      object[key.str()] = number;
  }
  return object;
}

/// Reads what norm-fusion-to-gpu wrote on the kernels of a lowered module.
static std::vector<KernelRecord> collectKernels(ModuleOp module) {
  std::vector<KernelRecord> records;
  module.walk([&](Operation *op) {
    auto fields = op->getAttrOfType<DictionaryAttr>("norm_fusion.kernel");
    auto name = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    if (!fields || !name)
      return;
    KernelRecord record;
    record.name = name.getValue().str();
    record.fields = std::move(*toJSON(fields).getAsObject());
    if (auto schedule = record.fields.getString("schedule")) {
      record.schedule = schedule->str();
      record.fields["schedule"] = parseFields(record.schedule);
    }
    records.push_back(std::move(record));
  });
  return records;
}

/// Kernels that gpu-kernel-outlining made of norm-fusion-plain-to-gpu's launches.
static llvm::StringSet<> collectPlainKernels(ModuleOp module) {
  llvm::StringSet<> names;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    if (kernels.getName().starts_with(plainKernelModulePrefix))
      kernels.walk([&](FunctionOpInterface op) { names.insert(op.getName()); });
  return names;
}

/// True if host code of a bufferized module reads or writes a buffer.
static bool touchesMemory(ModuleOp module) {
  return module
      .walk<WalkOrder::PreOrder>([](Operation *op) {
        if (isa<gpu::GPUModuleOp>(op))
          return WalkResult::skip();
        auto effects = dyn_cast<MemoryEffectOpInterface>(op);
        // The device does these.
        if (isa<gpu::LaunchFuncOp, gpu::MemcpyOp, gpu::WaitOp>(op))
          return WalkResult::advance();
        if (isa<func::CallOp, cf::AssertOp>(op) || !effects)
          return WalkResult::advance();
        return effects.hasEffect<MemoryEffects::Read>() ||
                       effects.hasEffect<MemoryEffects::Write>()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Tensors to host code on memrefs and the binaries of its kernels.
static Error lowerToBinaries(CompiledModule &result,
                             const CompileOptions &options) {
  LowerOptions lower;
  lower.chip = options.chip;
  lower.target = options.emulator ? "emulator" : "nvvm";
  lower.format = KernelFormat::isa;
  lower.plain = options.plainOnDevice ? PlainTarget::device : PlainTarget::host;
  if (Error error =
          runPipeline(*result.module, options, [&](OpPassManager &pm) {
            buildBufferizePipeline(pm);
            buildDevicePipeline(pm, lower);
            pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
            pm.addNestedPass<func::FuncOp>(createCSEPass());
          }))
    return error;
  result.kernels = collectKernels(*result.module);
  result.plainKernels = collectPlainKernels(*result.module);
  result.hostTouchesMemory = touchesMemory(*result.module);
  Stopwatch binary;
  if (Error error =
          runPipeline(*result.module, options, [&](OpPassManager &pm) {
            buildBinaryPipeline(pm, lower);
          }))
    return error;
  result.ptxMs = binary.getMs();
  for (auto module : result.module->getOps<gpu::BinaryOp>())
    if (auto object = dyn_cast<gpu::ObjectAttr>(module.getObjects()[0]);
        object && !options.emulator)
      if (StringRef function =
              runtime::findMissingFunction(object.getObject().getValue());
          !function.empty())
        return makeError(
            ExitCode::compileFailed,
            "kernels of " + module.getName() + " call " + function +
                " of libdevice, which comes with the CUDA Toolkit; found no "
                "nvvm/libdevice/libdevice.10.bc, neither by PATH nor where "
                "CUDA_ROOT, CUDA_HOME or CUDA_PATH say");
  return Error::success();
}

Error mlir::norm_fusion::runner::fuse(ModuleOp module,
                                      const CompileOptions &options) {
  FuseOptions fuse;
  fuse.chip = options.chip;
  fuse.memoryBandwidth = options.memoryBandwidth;
  fuse.schedule = options.schedule;
  fuse.tuning = options.tuning;
  fuse.batchInvariant = options.batchInvariant;
  fuse.rowOnly = options.rowOnly;
  fuse.profit = options.profit;
  return runPipeline(module, options,
                     [&](OpPassManager &pm) { buildFusePipeline(pm, fuse); });
}

/// Gives ops whose schedules were found to spill smaller ones, and notes which
/// schedules could still give way.
static void replaceSpilling(CompiledModule &result,
                            const CompileOptions &options) {
  std::optional<TargetInfo> target = TargetInfo::get(options.chip);
  auto note = [&](MixedReductionOp op, ScheduleAttr from, StringRef instead) {
    SpillRecord record{from.getText(), options.spilling.lookup(from.getText()),
                       instead.str()};
    remark::missed(op.getLoc(),
                   remark::RemarkOpts::name("spill").category("norm-fusion"))
        << remark::metric("op", op->getName().getStringRef().str())
        << remark::metric("found", (Twine(record.bytes) +
                                    " bytes a thread are spilled under " +
                                    record.schedule)
                                       .str())
        << remark::metric("needed",
                          "fewer registers: " + record.instead + " is taken");
    result.spills.push_back(std::move(record));
  };
  result.module->walk([&](MixedReductionOp op) {
    SmallVector<FewRowsAttr> kept;
    for (FewRowsAttr few : op.getFewRowsEntries()) {
      ScheduleAttr schedule = few.getSchedule();
      if (options.spilling.contains(schedule.getText())) {
        note(op, schedule, "the schedule for more rows");
        continue;
      }
      result.shrinkable.insert(schedule.getText());
      kept.push_back(few);
    }
    op.setFewRowsEntries(kept);
    ScheduleAttr schedule = op.getScheduleAttr();
    if (!schedule)
      return;
    while (ScheduleAttr smaller =
               getSmallerSchedule(Problem::get(op), schedule, *target)) {
      if (!options.spilling.contains(schedule.getText())) {
        result.shrinkable.insert(schedule.getText());
        break;
      }
      note(op, schedule, smaller.getText());
      op.setScheduleAttr(smaller);
      schedule = smaller;
    }
  });
}

bool mlir::norm_fusion::runner::hasKernels(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa<gpu::GPUModuleOp, gpu::LaunchOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

Expected<CompiledModule>
mlir::norm_fusion::runner::compileKernels(OwningOpRef<ModuleOp> module,
                                          const CompileOptions &options) {
  Stopwatch total;
  CompiledModule result;
  result.module = std::move(module);
  if (Error error = fuse(*result.module, options))
    return std::move(error);
  result.module->walk([&](MixedReductionOp) { ++result.fused; });
  replaceSpilling(result, options);
  if (result.fused || options.plainOnDevice || hasKernels(*result.module))
    if (Error error = lowerToBinaries(result, options))
      return std::move(error);
  result.totalMs = total.getMs();
  return std::move(result);
}

/// From what lowerToBinaries() leaves, or from tensors where there are no kernels.
static Error lowerHost(CompiledModule &result, const CompileOptions &options) {
  bool launches = options.plainOnDevice ||
                  !result.module->getOps<gpu::BinaryOp>().empty();
  return runPipeline(*result.module, options,
                     launches ? buildHostWithLaunchesPipeline
                              : buildPlainHostPipeline);
}

Expected<CompiledModule>
mlir::norm_fusion::runner::compileFused(OwningOpRef<ModuleOp> module,
                                        const CompileOptions &options) {
  Expected<CompiledModule> result = compileKernels(std::move(module), options);
  if (!result)
    return result;
  Stopwatch host;
  if (Error error = lowerHost(*result, options))
    return std::move(error);
  result->totalMs += host.getMs();
  return result;
}

Expected<CompiledModule>
mlir::norm_fusion::runner::compilePlain(OwningOpRef<ModuleOp> module,
                                        bool widen,
                                        const CompileOptions &options) {
  Stopwatch total;
  CompiledModule result;
  result.module = std::move(module);
  if (Error error =
          runPipeline(*result.module, options, [&](OpPassManager &pm) {
            if (widen) {
              // What is normal depends on the type.
              NormFusionExpandMathOptions ofType;
              ofType.ops = {"isnormal"};
              pm.addPass(createNormFusionExpandMath(ofType));
              pm.addPass(createNormFusionWiden());
            }
            buildUnfusePipeline(pm);
          }))
    return std::move(error);
  if (options.plainOnDevice || hasKernels(*result.module))
    if (Error error = lowerToBinaries(result, options))
      return std::move(error);
  if (Error error = lowerHost(result, options))
    return std::move(error);
  result.totalMs = total.getMs();
  return std::move(result);
}

int64_t mlir::norm_fusion::runner::getReductionLength(ModuleOp module,
                                                      int64_t dynamic) {
  int64_t longest = 1;
  module.walk([&](Operation *op) {
    SmallVector<int64_t> sizes;
    llvm::SmallBitVector reduced;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      sizes = linalgOp.getStaticLoopRanges();
      for (utils::IteratorType iterator : linalgOp.getIteratorTypesArray())
        reduced.push_back(iterator == utils::IteratorType::reduction);
    } else if (auto mixed =
                   dyn_cast_if_present<MixedReductionOp>(op->getParentOp())) {
      sizes = mixed.getStaticDimSizes();
      reduced = mixed.getReducedDims(op);
    }
    int64_t length = 1;
    for (unsigned dim : reduced.set_bits())
      length *= ShapedType::isDynamic(sizes[dim]) ? dynamic : sizes[dim];
    longest = std::max(longest, length);
  });
  return longest;
}

Expected<std::string>
mlir::norm_fusion::runner::compileDeviceModule(StringRef kernels,
                                               StringRef chip, bool emulator) {
  std::unique_ptr<MLIRContext> context = createContext();
  std::string text = ("module attributes {gpu.container_module} { gpu.module "
                      "@kernels {" +
                      kernels + "} }")
                         .str();
  ParserConfig config(context.get());
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, config);
  PassManager pm(context.get(), ModuleOp::getOperationName());
  LowerOptions options;
  options.chip = chip.str();
  options.target = emulator ? "emulator" : "nvvm";
  buildDevicePipeline(pm, options);
  buildBinaryPipeline(pm, options);
  if (module && succeeded(pm.run(*module)))
    for (auto binary : module->getOps<gpu::BinaryOp>())
      if (auto object = dyn_cast<gpu::ObjectAttr>(binary.getObjects()[0]))
        return object.getObject().getValue().str();
  return makeError(ExitCode::compileFailed,
                   "the runner's own kernels don't compile for " + chip);
}

bool mlir::norm_fusion::runner::roundsToIntegers(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa<arith::FPToSIOp, arith::FPToUIOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}
