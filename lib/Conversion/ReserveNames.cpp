//===- ReserveNames.cpp - Names that lowered code calls -------------------===//
//
// Passes that lower host code declare the functions that it calls, by name: of
// the C library, of the compiler's runtime and of ours. Where the module
// defines one of that name they would take it for theirs, whatever it computes.
// This is the first pass of lowering: what nothing lowers is refused here, too.
//
//===----------------------------------------------------------------------===//

#include "ModuleUtils.h"
#include "norm_fusion/Conversion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/RuntimeLibcalls.h"
#include "llvm/TargetParser/Host.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONRESERVENAMES
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;

namespace {
struct ReserveNamesPass final
    : norm_fusion::impl::NormFusionReserveNamesBase<ReserveNamesPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(norm_fusion::checkRegistered(getOperation(),
                                            ", so that nothing lowers it")))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    llvm::TargetLibraryInfoImpl library{
        llvm::Triple(llvm::sys::getDefaultTargetTriple())};
    for (Operation &op : *getOperation().getBody()) {
      if (isa<ModuleOp>(op)) {
        op.emitOpError("in a module, which isn't lowered; expected one module");
        return signalPassFailure();
      }
      auto symbol = dyn_cast<SymbolOpInterface>(op);
      if (!symbol || !symbol.getNameAttr())
        continue;
      StringRef name = symbol.getName();
      if (name.contains('\0')) {
        op.emitOpError("has a NUL in its name, which no object file can have");
        return signalPassFailure();
      }
      // A declaration takes nobody's place.
      auto function = dyn_cast<FunctionOpInterface>(op);
      auto global = dyn_cast<memref::GlobalOp>(op);
      bool isDefined = (function && !function.isExternal()) ||
                       (global && !global.isExternal());
      // A wrapper that is there is one of code that is lowered already, unless
      // a function of that name gets one.
      StringRef wrapped = name;
      bool isInTheWay = wrapped.consume_front("_mlir_ciface_")
                            ? symbols.lookup<func::FuncOp>(wrapped) != nullptr
                            : isReserved(name, library);
      if (!isDefined || !isInTheWay)
        continue;
      if (!symbol.isPrivate()) {
        op.emitOpError("has the name of a function that lowered code calls, '")
            << name << "'; expected another, or a private one";
        return signalPassFailure();
      }
      std::string own = ("own_" + name).str();
      while (symbols.lookup(own))
        own += "_";
      if (failed(symbols.rename(&op, own)))
        return signalPassFailure();
    }
  }

private:
  static bool isReserved(StringRef name,
                         const llvm::TargetLibraryInfoImpl &library) {
    llvm::LibFunc function;
    return library.getLibFunc(name, function) ||
           !llvm::RTLIB::RuntimeLibcallsInfo::lookupLibcallImplName(name)
                .empty() ||
           name == "memrefCopy" || name.starts_with("norm_fusion_") ||
           name.starts_with("mgpu") || name.starts_with("_mlir_");
  }
};
} // namespace
