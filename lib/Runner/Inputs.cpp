//===- Inputs.cpp - Arguments from the command line -----------------------===//
//
// Checks every input against the function's types before anything runs, so that
// a wrong file is one line and not a crash.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/Inputs.h"
#include "norm_fusion/Runner/Error.h"
#include "norm_fusion/Runtime/Npy.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runner;
using llvm::Error;
using llvm::Expected;
using mlir::norm_fusion::runtime::Tensor;
using mlir::norm_fusion::runtime::TensorSpec;

static Expected<Tensor> makeInput(StringRef text, const ValueType &type,
                                  uint64_t seed) {
  std::optional<TensorSpec> spec = runtime::parseTensorSpec(text);
  if (!spec) {
    if (!llvm::sys::fs::exists(text))
      return makeError(ExitCode::badInput,
                       "--input=" + text +
                           ": no such file, and neither SHAPExTYPE nor "
                           "SHAPExTYPE=NUMBER");
    Expected<Tensor> tensor = runtime::readNpy(text, type.type);
    if (!tensor)
      return withCode(ExitCode::badInput, tensor.takeError());
    return tensor;
  }
  if (spec->type != type.type)
    return makeError(ExitCode::badInput,
                     "--input=" + text + ": element type " +
                         runtime::getName(spec->type) + ", expected " +
                         runtime::getName(type.type));
  Expected<Tensor> tensor = Tensor::create(spec->type, spec->shape);
  if (!tensor)
    return withCode(ExitCode::badInput, tensor.takeError());
  if (!spec->splat) {
    tensor->fillRandom(seed);
  } else if (Error error = tensor->fill(*spec->splat)) {
    return makeError(ExitCode::badInput, "--input=" + text + ": " +
                                             llvm::toString(std::move(error)));
  }
  return tensor;
}

static bool fits(ArrayRef<int64_t> shape, const ValueType &type) {
  return shape.size() == type.shape.size() &&
         llvm::all_of(llvm::zip(shape, type.shape), [](auto sizes) {
           auto [found, wanted] = sizes;
           return ShapedType::isDynamic(wanted) || found == wanted;
         });
}

Expected<std::vector<Tensor>>
mlir::norm_fusion::runner::makeInputs(const RunnerOptions &options,
                                      const Signature &signature) {
  std::vector<Tensor> tensors;
  size_t wanted = signature.arguments.size();
  if (!options.inputs.empty() && options.inputs.size() != wanted)
    return makeError(ExitCode::badInput,
                     Twine(options.inputs.size()) + " inputs, " +
                         signature.name + " has " + Twine(wanted) +
                         " arguments; give one --input each, or none for "
                         "random ones");
  size_t nextDim = 0, dynamicDims = 0;
  for (const ValueType &type : signature.arguments)
    dynamicDims += llvm::count_if(type.shape, ShapedType::isDynamic);
  if (options.dims.size() > dynamicDims)
    return makeError(ExitCode::badInput,
                     "--dims has " + Twine(options.dims.size()) +
                         " sizes, the arguments of " + signature.name +
                         " have " + Twine(dynamicDims) +
                         " dynamic dimensions");
  for (auto [index, type] : llvm::enumerate(signature.arguments)) {
    uint64_t seed = options.seed * 0x9e3779b97f4a7c15ull + index;
    if (options.inputs.empty()) {
      SmallVector<int64_t> shape;
      for (int64_t size : type.shape) {
        if (ShapedType::isDynamic(size)) {
          if (options.dims.empty())
            return makeError(ExitCode::badInput,
                             "argument " + Twine(index) + " is " + type.str() +
                                 "; give its sizes with --dims or --input");
          size = options.dims[std::min(nextDim++, options.dims.size() - 1)];
        }
        shape.push_back(size);
      }
      Expected<Tensor> tensor = Tensor::create(type.type, shape);
      if (!tensor)
        return withCode(ExitCode::badInput, tensor.takeError());
      tensor->fillRandom(seed);
      tensors.push_back(std::move(*tensor));
      continue;
    }
    StringRef text = options.inputs[index];
    Expected<Tensor> tensor = makeInput(text, type, seed);
    if (!tensor)
      return tensor.takeError();
    if (!fits(tensor->getShape(), type))
      return makeError(ExitCode::badInput,
                       "--input=" + text + " is " + tensor->getTypeName() +
                           ", argument " + Twine(index) + " of " +
                           signature.name + " is " + type.str());
    tensors.push_back(std::move(*tensor));
  }
  return std::move(tensors);
}
