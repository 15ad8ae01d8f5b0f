//===- Check.cpp - Results compared with what they should be --------------===//
//
// --expected compares with files, --check with the module before fusion,
// computed in f64.
//
//===----------------------------------------------------------------------===//

#include "RunImpl.h"

using namespace mlir;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runner;
using llvm::Error;
using llvm::Expected;
using runtime::Tensor;

OutputReport Run::describe(unsigned index) const {
  OutputReport output;
  output.index = index;
  if (size_t results = signature.results.size(); index >= results)
    output.argument = signature.buffers[index - results];
  output.type = results[index].getElementType();
  output.shape = results[index].getTypeName();
  output.sizes.assign(results[index].getShape().begin(),
                      results[index].getShape().end());
  return output;
}

Tolerance Run::getTolerance(runtime::ElementType type, double magnitude) const {
  Tolerance tolerance =
      chooseTolerance(type, reductionLength, magnitude, rounded);
  // One that is given alone leaves nothing to the other.
  if (options.rtol || options.atol)
    tolerance = {options.rtol.value_or(0), options.atol.value_or(0)};
  return tolerance;
}

/// Result `index` beside what it should be, of the same shape.
OutputReport Run::compareResult(unsigned index, StringRef reference,
                                const Tensor &want) const {
  const Tensor &got = results[index];
  OutputReport output = describe(index);
  output.reference = reference;
  output.comparison = compare(
      got, want, getTolerance(got.getElementType(), getMagnitude(want)));
  return output;
}

void Run::addComparison(OutputReport output, const Tensor &want) {
  if (!output.comparison.passed() && failure.empty())
    failure = describeFailure(output, results[output.index], want);
  report.outputs.push_back(std::move(output));
}

Error Run::compareWithFiles() {
  for (auto [index, want] : llvm::enumerate(expected)) {
    const Tensor &got = results[index];
    if (want.getShape() != got.getShape())
      return makeError(ExitCode::badInput,
                       "--expected=" + options.expected[index] + " is " +
                           want.getTypeName() + ", result " + Twine(index) +
                           " is " + got.getTypeName());
    addComparison(compareResult(index, "expected", want), want);
  }
  return Error::success();
}

/// On the device if the rest of a module runs there too, and it has the memory:
/// without fusion every value between two ops is a buffer, and f64 are wide.
Expected<std::vector<Tensor>> Run::runPlain(bool widen) {
  if (!compile.plainOnDevice)
    return runPlain(widen, /*onDevice=*/false);
  Expected<std::vector<Tensor>> values = runPlain(widen, /*onDevice=*/true);
  if (values)
    return values;
  if (Error error = llvm::handleErrors(
          values.takeError(),
          [](std::unique_ptr<runtime::DeviceError> error) -> Error {
            return error->getKind() == runtime::ErrorKind::outOfMemory
                       ? Error::success()
                       : Error(std::move(error));
          }))
    return std::move(error);
  progress.say("not enough memory on the device: computing on the host");
  return runPlain(widen, /*onDevice=*/false);
}

Expected<std::vector<Tensor>> Run::runPlain(bool widen, bool onDevice) {
  CompileOptions plainOptions = compile;
  plainOptions.plainOnDevice = onDevice;
  Expected<CompiledModule> compiled =
      compilePlain(OwningOpRef<ModuleOp>(source->clone()), widen, plainOptions);
  if (!compiled)
    return compiled.takeError();
  Signature plain = signature;
  std::vector<Tensor> widened;
  if (widen) {
    for (std::vector<ValueType> *types : {&plain.arguments, &plain.results})
      for (ValueType &type : *types)
        if (isFloat(type.type))
          type.type = runtime::ElementType::f64;
    for (const Tensor &input : inputs) {
      Expected<Tensor> wide = input.widen();
      if (!wide)
        return withCode(ExitCode::kernelFailed, wide.takeError());
      widened.push_back(std::move(*wide));
    }
  }
  bool usesDevice = onDevice || hasKernels(*source);
  Expected<std::unique_ptr<Program>> created = Program::create(
      *compiled->module, plain, usesDevice ? device.get() : nullptr,
      compiled->hostTouchesMemory);
  if (!created)
    return created.takeError();
  return (*created)->run(widen ? widened : inputs);
}

Error Run::compareWithReference() {
  progress.say("computing the f64 reference");
  Expected<std::vector<Tensor>> reference = runPlain(/*widen=*/true);
  if (!reference)
    return reference.takeError();
  std::optional<std::vector<Tensor>> own;
  for (unsigned i = 0; i < results.size(); ++i) {
    const Tensor &got = results[i], &want = (*reference)[i];
    if (want.getShape() != got.getShape())
      return makeError(ExitCode::kernelFailed,
                       "result " + Twine(i) + " is " + got.getTypeName() +
                           ", the reference " + want.getTypeName());
    OutputReport output = compareResult(i, "f64", want);
    // Roundings on the way may be the IR's own: see how far it is off unfused.
    if (!output.comparison.passed() && isFloat(got.getElementType()) &&
        !options.rtol && !options.atol) {
      if (!own) {
        progress.say("computing unfused, in the module's own types");
        Expected<std::vector<Tensor>> plain = runPlain(/*widen=*/false);
        if (!plain)
          return plain.takeError();
        own = std::move(*plain);
      }
      Comparison unfused = compare((*own)[i], want, Tolerance());
      double allowed = 2 * unfused.maxFiniteError +
                       getSpacing(got.getElementType(), unfused.maxMagnitude);
      Tolerance tolerance = output.comparison.tolerance;
      tolerance.atol = std::max(tolerance.atol, allowed);
      output.comparison = compare(got, want, tolerance, &(*own)[i]);
    }
    addComparison(std::move(output), want);
  }
  return Error::success();
}
