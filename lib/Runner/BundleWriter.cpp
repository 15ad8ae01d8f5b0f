//===- BundleWriter.cpp - Host code as a manifest -------------------------===//
//
// Walks the host code around the launches and writes down each integer as a
// formula and each buffer by name. An op that does anything else than compute
// sizes, allocate or launch ends the walk: such a module needs the runner.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/Bundle.h"
#include "norm_fusion/Runner/Error.h"
#include "norm_fusion/Runner/Formula.h"
#include "norm_fusion/Runtime/Image.h"
#include "norm_fusion/Runtime/OutputFile.h"
#include "norm_fusion/Schedule/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runner;
using llvm::Error;
using llvm::Expected;
namespace json = llvm::json;

static std::string getHash(StringRef bytes) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)),
                     /*LowerCase=*/true);
}

/// Characters of a formula that is still written down.
static constexpr size_t maxFormula = 1 << 16;

/// How deep the parentheses of `text` are nested.
static unsigned getDepth(StringRef text) {
  unsigned depth = 0, deepest = 0;
  for (char c : text)
    if (c == '(')
      deepest = std::max(deepest, ++depth);
    else if (c == ')')
      --depth;
  return deepest;
}

namespace {
/// What an op takes the bits of an integer for.
enum class Sign { any, isSigned, isUnsigned };

class HostWalker {
public:
  HostWalker(json::Object &manifest, const llvm::StringMap<std::string> &images,
             const llvm::StringMap<std::string> &names)
      : manifest(manifest), images(images), names(names) {}
  Error walk(func::FuncOp function);

private:
  Error visit(Block &block, StringRef when);
  Error visit(Operation *op, StringRef when);
  Error visitIf(scf::IfOp op, StringRef when);
  Error visitCall(func::CallOp op);
  Error visitAlloc(memref::AllocOp op);
  Error visitLaunch(gpu::LaunchFuncOp op, StringRef when);
  Error visitReturn(func::ReturnOp op);
  Error visitInteger(Operation *op);
  Error visitView(Operation *op);
  Error refuse(Operation *op, StringRef why = "host code is left");

  std::string get(Value value) { return formulas[value]; }
  std::string get(Value value, Sign sign);
  std::string convert(Value value, Sign sign, Type type);
  std::string binary(StringRef op, Operation *at, Sign sign = Sign::any) {
    std::string a = get(at->getOperand(0), sign);
    std::string b = get(at->getOperand(1), sign);
    if (a.empty() || b.empty())
      return "";
    return llvm::formatv("({0} {1} {2})", a, op, b);
  }
  std::string function(StringRef name, Operation *at, Sign sign = Sign::any) {
    std::string text = name.str() + "(";
    for (auto [i, operand] : llvm::enumerate(at->getOperands())) {
      std::string value = get(operand, sign);
      if (value.empty())
        return "";
      text += (i ? ", " : "") + value;
    }
    return text + ")";
  }

  json::Object &manifest;
  const llvm::StringMap<std::string> &images; ///< by file name
  const llvm::StringMap<std::string> &names;  ///< of files, by module name
  /// Integers, and addresses of buffers.
  llvm::DenseMap<Value, std::string> formulas;
  llvm::DenseMap<Value, SmallVector<std::string>> sizes;
  json::Array kernels, buffers, workspaces, conditions, results, order;
};
} // namespace

Error HostWalker::refuse(Operation *op, StringRef why) {
  std::string where;
  if (auto loc = op->getLoc()->findInstanceOf<FileLineColLoc>())
    where = llvm::formatv(" (line {0})", loc.getLine());
  return makeError(ExitCode::compileFailed,
                   "no bundle: " + why + ", '" + op->getName().getStringRef() +
                       "'" + where +
                       "; run the module with norm-fusion-runner instead");
}

Error HostWalker::walk(func::FuncOp function) {
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    std::string name = "arg" + std::to_string(i);
    formulas[argument] = name;
    if (auto type = dyn_cast<MemRefType>(argument.getType()))
      for (int64_t d = 0; d < type.getRank(); ++d)
        sizes[argument].push_back(
            type.isDynamicDim(d) ? llvm::formatv("{0}.dim{1}", name, d).str()
                                 : std::to_string(type.getDimSize(d)));
  }
  if (!function.getBody().hasOneBlock())
    return refuse(function);
  if (Error error = visit(function.getBody().front(), "1"))
    return error;
  if (kernels.empty())
    return makeError(ExitCode::compileFailed,
                     "no bundle: nothing of " + function.getName() +
                         " became a kernel; --remarks=FILE says why");
  manifest["kernels"] = std::move(kernels);
  manifest["buffers"] = std::move(buffers);
  manifest["workspaces"] = std::move(workspaces);
  manifest["requires"] = std::move(conditions);
  manifest["results"] = std::move(results);
  manifest["launch_order"] = std::move(order);
  return Error::success();
}

Error HostWalker::visit(Block &block, StringRef when) {
  for (Operation &op : block)
    if (Error error = visit(&op, when))
      return error;
  return Error::success();
}

Error HostWalker::visit(Operation *op, StringRef when) {
  return llvm::TypeSwitch<Operation *, Error>(op)
      .Case([&](scf::IfOp op) { return visitIf(op, when); })
      .Case([&](scf::YieldOp) { return Error::success(); })
      .Case([&](func::CallOp op) { return visitCall(op); })
      .Case([&](func::ReturnOp op) { return visitReturn(op); })
      .Case([&](memref::AllocOp op) { return visitAlloc(op); })
      .Case([&](memref::DeallocOp) { return Error::success(); })
      .Case([&](gpu::LaunchFuncOp op) { return visitLaunch(op, when); })
      .Case([&](cf::AssertOp op) {
        std::string holds = get(op.getArg());
        if (when != "1")
          holds = llvm::formatv("select({0}, {1}, 1)", when, holds);
        conditions.push_back(
            json::Object{{"condition", std::move(holds)},
                         {"message", json::fixUTF8(op.getMsg())}});
        return Error::success();
      })
      .Case([&](memref::DimOp op) -> Error {
        std::optional<int64_t> index = op.getConstantIndex();
        if (!index || *index < 0 ||
            *index >= int64_t(sizes[op.getSource()].size()))
          return refuse(op);
        formulas[op] = sizes[op.getSource()][*index];
        return Error::success();
      })
      .Case<memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp>(
          [&](Operation *op) { return visitView(op); })
      .Default([&](Operation *op) { return visitInteger(op); });
}

Error HostWalker::visitIf(scf::IfOp op, StringRef when) {
  if (op.getNumResults())
    return refuse(op);
  auto both = [&](const Twine &condition) -> std::string {
    return when == "1" ? condition.str()
                       : ("(" + when + " & " + condition + ")").str();
  };
  std::string condition = get(op.getCondition());
  if (Error error = visit(*op.thenBlock(), both(condition)))
    return error;
  if (!op.elseBlock())
    return Error::success();
  return visit(*op.elseBlock(), both("not(" + condition + ")"));
}

Error HostWalker::visitCall(func::CallOp op) {
  StringRef callee = op.getCallee();
  if (callee == "norm_fusion_multiprocessor_count") {
    formulas[op.getResult(0)] = "multiprocessors";
  } else if (callee == "norm_fusion_max_active_clusters") {
    formulas[op.getResult(0)] = function("max_active_clusters", op);
  } else if (callee == "norm_fusion_workspace") {
    std::string name = "workspace" + std::to_string(workspaces.size());
    workspaces.push_back(json::Object{{"name", name},
                                      {"bytes", get(op.getOperand(0))},
                                      {"zeroed", "once"},
                                      {"per", "kernel and stream"}});
    formulas[op.getResult(0)] = name;
  } else {
    return refuse(op);
  }
  return Error::success();
}

Error HostWalker::visitAlloc(memref::AllocOp op) {
  MemRefType type = op.getType();
  std::string name = "buffer" + std::to_string(buffers.size());
  // Of index there are shapes, and of others what no kernel takes.
  if (!type.getElementType().isIntOrIndexOrFloat())
    return refuse(op);
  std::string bytes = std::to_string(getBytes(type.getElementType()));
  auto dynamic = op.getDynamicSizes().begin();
  for (int64_t size : type.getShape()) {
    std::string text = ShapedType::isDynamic(size) ? get(*dynamic++)
                                                   : std::to_string(size);
    bytes = llvm::formatv("({0} * {1})", bytes, text);
    sizes[op].push_back(std::move(text));
  }
  formulas[op] = name;
  buffers.push_back(json::Object{{"name", name}, {"bytes", bytes}});
  return Error::success();
}

Error HostWalker::visitView(Operation *op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  ArrayRef<std::string> from = sizes[source];
  SmallVector<std::string> to;
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    for (const ReassociationIndices &group :
         collapse.getReassociationIndices()) {
      std::string size = "1";
      for (int64_t d : group)
        size = size == "1" ? from[d]
                           : llvm::formatv("({0} * {1})", size, from[d]).str();
      to.push_back(size);
    }
  } else if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
    auto dynamic = expand.getOutputShape().begin();
    for (int64_t size : expand.getStaticOutputShape())
      to.push_back(ShapedType::isDynamic(size) ? get(*dynamic++)
                                               : std::to_string(size));
  } else {
    to.assign(from.begin(), from.end());
  }
  // Layouts with an offset or strides aren't just an address.
  if (!cast<MemRefType>(result.getType()).getLayout().isIdentity())
    return refuse(op);
  std::string name = get(source);
  formulas[result] = name;
  sizes[result] = std::move(to);
  return Error::success();
}

Error HostWalker::visitLaunch(gpu::LaunchFuncOp op, StringRef when) {
  json::Object kernel;
  if (auto fields = op->getAttrOfType<DictionaryAttr>("norm_fusion.kernel"))
    for (NamedAttribute field : fields) {
      std::string key = json::fixUTF8(field.getName());
      if (auto integer = dyn_cast<IntegerAttr>(field.getValue()))
        kernel[key] = integer.getInt();
      else if (auto text = dyn_cast<StringAttr>(field.getValue()))
        kernel[key] = json::fixUTF8(text.getValue());
    }
  std::string name = op.getKernelName().str();
  // The image has it so, and JSON can't.
  if (!json::isUTF8(name))
    return refuse(op, "a kernel's name isn't UTF-8");
  auto file = names.find(op.getKernelModuleName());
  if (file == names.end())
    return refuse(op, "no image of the kernel's module");
  StringRef image = images.find(file->second)->second;
  auto dim = [&](gpu::KernelDim3 dims) {
    return json::Array{get(dims.x), get(dims.y), get(dims.z)};
  };
  kernel["name"] = name;
  kernel["file"] = file->second;
  kernel["when"] = when.str();
  kernel["grid"] = dim(op.getGridSizeOperandValues());
  kernel["block"] = dim(op.getBlockSizeOperandValues());
  kernel["cluster"] = op.hasClusterSize()
                          ? dim(op.getClusterSizeOperandValues())
                          : json::Array{"1", "1", "1"};
  kernel["shared_memory_bytes"] =
      op.getDynamicSharedMemorySize() ? get(op.getDynamicSharedMemorySize())
                                      : std::string("0");
  kernel["cooperative"] = runtime::hasGlobal(image, name + "_cooperative");
  kernel["programmatic_dependent"] =
      runtime::hasGlobal(image, name + "_dependent");
  json::Array arguments;
  std::string workspace;
  for (Value operand : op.getKernelOperands()) {
    if (isa<MemRefType>(operand.getType()))
      return refuse(op);
    std::string type;
    llvm::raw_string_ostream(type) << operand.getType();
    arguments.push_back(json::Object{
        {"type", isa<LLVM::LLVMPointerType>(operand.getType()) ? "pointer"
                                                               : type},
        {"value", get(operand)}});
    if (StringRef(get(operand)).starts_with("workspace"))
      workspace = get(operand);
  }
  kernel["arguments"] = std::move(arguments);
  kernel["workspace"] =
      workspace.empty() ? json::Value(nullptr) : json::Value(workspace);
  kernels.push_back(std::move(kernel));
  order.push_back(name);
  return Error::success();
}

Error HostWalker::visitReturn(func::ReturnOp op) {
  for (Value value : op.getOperands()) {
    json::Array shape;
    for (const std::string &size : sizes[value])
      shape.push_back(size);
    results.push_back(json::Object{{"value", get(value)},
                                   {"shape", std::move(shape)},
                                   {"type", nullptr}});
  }
  return Error::success();
}

/// What `op`, of those for which it matters, takes its operands for.
static Sign getSign(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    using Is = arith::CmpIPredicate;
    Is is = compare.getPredicate();
    return is == Is::eq || is == Is::ne ? Sign::any
           : is == Is::ult || is == Is::ule || is == Is::ugt || is == Is::uge
               ? Sign::isUnsigned
               : Sign::isSigned;
  }
  return isa<arith::IndexCastUIOp, arith::ExtUIOp, arith::DivUIOp,
             arith::RemUIOp, arith::CeilDivUIOp, arith::MaxUIOp,
             arith::MinUIOp>(op)
             ? Sign::isUnsigned
             : Sign::isSigned;
}

static StringRef getOperator(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return "==";
  case arith::CmpIPredicate::ne:
    return "!=";
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return "<";
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return "<=";
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return ">";
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return ">=";
  }
  llvm_unreachable("unknown predicate");
}

/// `text`, of which the lowest bits are the value of an integer of `type`, as
/// formulas have it: i1 is 0 or 1, others are extended with their sign.
static std::string wrap(std::string text, Type type) {
  if (!type.isInteger() || type.getIntOrFloatBitWidth() >= 64 || text.empty())
    return text;
  unsigned width = type.getIntOrFloatBitWidth();
  uint64_t mask = llvm::maskTrailingOnes<uint64_t>(width);
  if (width == 1)
    return llvm::formatv("({0} & 1)", text);
  return llvm::formatv("((({0} & {1}) ^ {2}) - {2})", text, mask,
                       uint64_t(1) << (width - 1));
}

/// `value` as an op reads it that takes it for `sign`; empty for unsigned ones
/// of 64 bits, which no formula has. Indices are sizes, never negative.
std::string HostWalker::get(Value value, Sign sign) {
  Type type = value.getType();
  std::string text = get(value);
  if (!type.isInteger() || sign == Sign::any)
    return text;
  unsigned width = type.getIntOrFloatBitWidth();
  if (sign == Sign::isSigned)
    return width == 1 ? llvm::formatv("(0 - {0})", text).str() : text;
  if (width >= 64)
    return "";
  return width == 1 ? text
                    : llvm::formatv("({0} & {1})", text,
                                    llvm::maskTrailingOnes<uint64_t>(width))
                          .str();
}

/// What reads `value` extends it to the type of a wider result, or cuts it.
std::string HostWalker::convert(Value value, Sign sign, Type type) {
  bool isWide = !value.getType().isInteger() ||
                value.getType().getIntOrFloatBitWidth() >= 64;
  return wrap(get(value, isWide ? Sign::any : sign), type);
}

Error HostWalker::visitInteger(Operation *op) {
  Type type = op->getNumResults() == 1 ? op->getResult(0).getType() : Type();
  auto isTooWide = [](Type type) {
    return type.isInteger() && type.getIntOrFloatBitWidth() > 64;
  };
  if (llvm::any_of(op->getOperandTypes(), isTooWide) ||
      llvm::any_of(op->getResultTypes(), isTooWide))
    return refuse(op, "an integer of more than 64 bits");
  Sign sign = getSign(op);
  std::string text =
      llvm::TypeSwitch<Operation *, std::string>(op)
          .Case([&](arith::ConstantOp op) -> std::string {
            auto integer = dyn_cast<IntegerAttr>(op.getValue());
            if (!integer)
              return "";
            return std::to_string(op.getType().isInteger(1)
                                      ? integer.getValue().getZExtValue()
                                      : integer.getInt());
          })
          .Case<LLVM::IntToPtrOp, LLVM::PtrToIntOp,
                memref::ExtractAlignedPointerAsIndexOp>(
              [&](Operation *op) { return get(op->getOperand(0)); })
          .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
                arith::ExtUIOp, arith::TruncIOp>([&](Operation *op) {
            return convert(op->getOperand(0), sign, type);
          })
          .Case([&](arith::AddIOp op) { return wrap(binary("+", op), type); })
          .Case([&](arith::SubIOp op) { return wrap(binary("-", op), type); })
          .Case([&](arith::MulIOp op) { return wrap(binary("*", op), type); })
          .Case<arith::DivSIOp, arith::DivUIOp>(
              [&](Operation *op) { return wrap(binary("/", op, sign), type); })
          .Case<arith::RemSIOp, arith::RemUIOp>(
              [&](Operation *op) { return wrap(binary("%", op, sign), type); })
          .Case([&](arith::AndIOp op) { return binary("&", op); })
          .Case([&](arith::OrIOp op) { return binary("|", op); })
          .Case([&](arith::XOrIOp op) { return binary("^", op); })
          .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([&](Operation *op) {
            return wrap(function("ceildiv", op, sign), type);
          })
          .Case<arith::MaxSIOp, arith::MaxUIOp>([&](Operation *op) {
            return wrap(function("max", op, sign), type);
          })
          .Case<arith::MinSIOp, arith::MinUIOp>([&](Operation *op) {
            return wrap(function("min", op, sign), type);
          })
          .Case([&](arith::SelectOp op) -> std::string {
            return isa<MemRefType>(op.getType()) ? "" : function("select", op);
          })
          .Case([&](arith::CmpIOp op) {
            return binary(getOperator(op.getPredicate()), op, sign);
          })
          .Default([](Operation *) { return std::string(); });
  if (text.empty())
    return refuse(op);
  // Each use repeats it: a value that is squared again and again doubles.
  if (text.size() > maxFormula || getDepth(text) > maxFormulaDepth - 50)
    return refuse(op, "a formula is too long");
  formulas[op->getResult(0)] = std::move(text);
  return Error::success();
}

/// Types as the manifest spells them: sizes, null where unknown.
static json::Object describeType(const ValueType &type) {
  json::Array shape;
  for (int64_t size : type.shape)
    shape.push_back(ShapedType::isDynamic(size) ? json::Value(nullptr)
                                                : json::Value(size));
  return json::Object{{"dtype", runtime::getName(type.type)},
                      {"shape", std::move(shape)},
                      {"scalar", type.isScalar}};
}

/// True for a name of a module that is a file's, too: no way out of a folder,
/// not hidden, not too long.
static bool isPlainName(StringRef name) {
  return !name.empty() && name.size() <= 200 && name.front() != '.' &&
         llvm::all_of(name, [](char c) {
           return llvm::isAlnum(c) || c == '_' || c == '.';
         });
}

/// Removes what is in `folder` of a bundle that isn't there any more: an image
/// that is still the one of its manifest.
static void removeImage(StringRef folder, StringRef name, StringRef hash) {
  if (name == "manifest.json" || !isBundleFile(name) ||
      llvm::sys::path::filename(name) != name)
    return;
  auto image = llvm::MemoryBuffer::getFile(folder + "/" + name,
                                           /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (image && getHash((*image)->getBuffer()) == hash)
    llvm::sys::fs::remove(folder + "/" + name);
}

Error mlir::norm_fusion::runner::writeBundle(StringRef folder,
                                             CompiledModule &compiled,
                                             const Signature &signature,
                                             const CompileOptions &options,
                                             StringRef source) {
  if (compiled.fused == 0)
    return makeError(ExitCode::compileFailed,
                     "no bundle: nothing of " + signature.name +
                         " was fused; --remarks=FILE says why");
  llvm::StringMap<std::string> images, names;
  for (auto binary : compiled.module->getOps<gpu::BinaryOp>())
    if (auto object = dyn_cast<gpu::ObjectAttr>(binary.getObjects()[0])) {
      StringRef bytes = object.getObject().getValue();
      // No plain name has a dash: the numbered ones are new.
      std::string name = isPlainName(binary.getName())
                             ? binary.getName().str()
                             : "kernels-" + std::to_string(names.size());
      name += options.emulator ? ".o" : ".ptx";
      images[name] = (options.emulator ? bytes : bytes.rtrim('\0')).str();
      names[binary.getName()] = name;
    }

  json::Object manifest;
  HostWalker walker(manifest, images, names);
  auto entry = compiled.module->lookupSymbol<func::FuncOp>(signature.name);
  if (Error error = walker.walk(entry))
    return error;
  json::Array arguments, files;
  for (const ValueType &type : signature.arguments)
    arguments.push_back(describeType(type));
  for (auto [result, type] :
       llvm::zip(*manifest.getArray("results"), signature.results))
    (*result.getAsObject())["type"] = describeType(type);
  for (const auto &image : images)
    files.push_back(json::Object{{"name", image.first()},
                                 {"sha256", getHash(image.second)}});
  manifest["schema"] = 1;
  manifest["version"] = NORM_FUSION_VERSION;
  manifest["llvm"] = LLVM_VERSION_STRING;
  manifest["entry"] = json::fixUTF8(signature.name);
  manifest["chip"] = options.chip;
  manifest["target"] = options.emulator ? "emulator" : "cuda";
  manifest["fused"] = compiled.fused;
  manifest["source_sha256"] = getHash(source);
  manifest["arguments"] = std::move(arguments);
  manifest["files"] = std::move(files);

  llvm::StringMap<std::string> own = getBundleFiles(folder);
  for (StringRef name : images.keys())
    if (!own.contains(name) && llvm::sys::fs::exists(folder + "/" + name))
      return makeError(ExitCode::badInput,
                       "'" + folder + "/" + name +
                           "' is there, and isn't a bundle's; give another "
                           "folder, or remove it");
  SmallVector<StringRef> made;
  for (StringRef path = folder; !path.empty() && !llvm::sys::fs::exists(path);
       path = llvm::sys::path::parent_path(path))
    made.push_back(path);
  // Folders that had to be made aren't left empty.
  auto fail = [&](Error error) {
    for (StringRef path : made)
      llvm::sys::fs::remove(path);
    return withCode(ExitCode::badInput, std::move(error));
  };
  if (std::error_code code = llvm::sys::fs::create_directories(
          folder, /*IgnoreExisting=*/true, llvm::sys::fs::all_all))
    return fail(llvm::createStringError(folder + ": " + code.message()));
  std::vector<std::pair<std::string, StringRef>> contents;
  auto add = [&](StringRef name, StringRef text) {
    SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    contents.emplace_back(path.str(), text);
  };
  for (const auto &image : images)
    add(image.first(), image.second);
  // Last: a folder without a manifest isn't a bundle.
  std::string text =
      llvm::formatv("{0:2}\n", json::Value(std::move(manifest))).str();
  add("manifest.json", text);
  if (Error error = runtime::writeFiles(contents))
    return fail(std::move(error));
  for (const auto &file : own)
    if (!images.contains(file.first()))
      removeImage(folder, file.first(), file.second);
  return Error::success();
}
