//===- Serialize.cpp - Kernels to binaries, side by side ------------------===//
//
// Upstream's gpu-module-to-binary serializes one gpu.module after another. Here
// each goes to a thread of the context: a target translates its module into an
// LLVM context of its own, so nothing is shared but attributes, which MLIR
// locks. Three variants of a kernel then take as long as the largest of them.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Conversion/Passes.h"

#include "mlir/Dialect/GPU/IR/CompilationInterfaces.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Threading.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONSERIALIZE
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;

namespace {
struct SerializePass final
    : norm_fusion::impl::NormFusionSerializeBase<SerializePass> {
  using Base::Base;

  void runOnOperation() override {
    std::optional<gpu::CompilationTarget> target =
        llvm::StringSwitch<std::optional<gpu::CompilationTarget>>(format)
            .Case("isa", gpu::CompilationTarget::Assembly)
            .Case("bin", gpu::CompilationTarget::Binary)
            .Case("fatbin", gpu::CompilationTarget::Fatbin)
            .Default(std::nullopt);
    if (!target) {
      getOperation().emitError("unknown format '")
          << format << "', expected isa, bin or fatbin";
      return signalPassFailure();
    }
    gpu::TargetOptions options(toolkit, /*librariesToLink=*/{},
                               /*cmdOptions=*/{}, /*elfSection=*/{}, *target);
    SmallVector<gpu::GPUModuleOp> modules(
        getOperation().getOps<gpu::GPUModuleOp>());
    SmallVector<SmallVector<Attribute>> objects(modules.size());
    if (failed(failableParallelForEachN(
            &getContext(), 0, modules.size(), [&](size_t i) {
              return serialize(modules[i], options, objects[i]);
            })))
      return signalPassFailure();
    for (auto [module, binary] : llvm::zip(modules, objects)) {
      OpBuilder builder(module);
      gpu::BinaryOp::create(builder, module.getLoc(), module.getName(),
                            module.getOffloadingHandlerAttr(),
                            builder.getArrayAttr(binary));
      module.erase();
    }
  }

private:
  /// Without how long it took: the same module gives the same bytes.
  static Attribute withoutTimes(Attribute attr) {
    auto object = dyn_cast_or_null<gpu::ObjectAttr>(attr);
    if (!object || !object.getProperties())
      return attr;
    NamedAttrList kept;
    for (NamedAttribute property : object.getProperties())
      if (!property.getName().strref().ends_with("TimeInMs"))
        kept.push_back(property);
    return gpu::ObjectAttr::get(attr.getContext(), object.getTarget(),
                                object.getFormat(), object.getObject(),
                                kept.getDictionary(attr.getContext()),
                                object.getKernels());
  }
  static LogicalResult serialize(gpu::GPUModuleOp module,
                                 const gpu::TargetOptions &options,
                                 SmallVectorImpl<Attribute> &objects) {
    if (!module.getTargetsAttr())
      return module.emitError(
          "has no target; run norm-fusion-attach-target first");
    for (auto target :
         module.getTargetsAttr().getAsRange<gpu::TargetAttrInterface>()) {
      std::optional<SmallVector<char, 0>> binary =
          target.serializeToObject(module, options);
      Attribute object;
      if (binary)
        object = withoutTimes(target.createObject(module, *binary, options));
      if (!object)
        return module.emitError("can't be serialized for ") << target;
      objects.push_back(object);
    }
    return success();
  }
};
} // namespace
