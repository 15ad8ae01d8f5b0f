//===- AssertToCall.cpp - A failed assertion is an error, not a signal ----===//
//
// Exporters guard dynamic shapes with cf.assert. A process that embeds the code
// must be able to report the message and go on, so the assertion calls the
// runtime, which leaves the compiled code and never comes back.
//
//===----------------------------------------------------------------------===//

#include "ModuleUtils.h"
#include "norm_fusion/Conversion/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONASSERTTOCALL
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;

namespace {
struct AssertToCallPass final
    : norm_fusion::impl::NormFusionAssertToCallBase<AssertToCallPass> {
  using Base::Base;

  void runOnOperation() override {
    messages.clear(); // of the module before
    SmallVector<cf::AssertOp> asserts;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp, gpu::LaunchOp>(op))
        return WalkResult::skip();
      if (auto assertOp = dyn_cast<cf::AssertOp>(op))
        asserts.push_back(assertOp);
      return WalkResult::advance();
    });
    if (asserts.empty())
      return;

    constexpr StringLiteral name = "norm_fusion_assertion_failed";
    SymbolTable symbols(getOperation());
    auto builder = OpBuilder::atBlockBegin(getOperation().getBody());
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(&getContext()), pointer);
    // A module that is lowered in part declares it, too.
    FailureOr<LLVM::LLVMFuncOp> found =
        norm_fusion::lookupRuntimeFunction<LLVM::LLVMFuncOp>(
            symbols, name, type, "an llvm.func");
    if (failed(found))
      return signalPassFailure();
    LLVM::LLVMFuncOp callee = *found;
    if (!callee)
      callee = LLVM::LLVMFuncOp::create(builder, getOperation().getLoc(), name,
                                        type);
    for (cf::AssertOp op : asserts) {
      Location loc = op.getLoc();
      LLVM::GlobalOp message = getMessage(op.getMsg(), loc, builder, symbols);
      OpBuilder at(op);
      Value yes = arith::ConstantIntOp::create(at, loc, 1, 1);
      Value failed = arith::XOrIOp::create(at, loc, op.getArg(), yes);
      auto ifOp = scf::IfOp::create(at, loc, failed, /*withElseRegion=*/false);
      at.setInsertionPointToStart(ifOp.thenBlock());
      Value text =
          LLVM::AddressOfOp::create(at, loc, pointer, message.getSymName());
      LLVM::CallOp::create(at, loc, callee, text);
      op.erase();
    }
  }

private:
  /// A global with the text, one for all assertions that say the same.
  LLVM::GlobalOp getMessage(StringRef text, Location loc, OpBuilder &builder,
                            SymbolTable &symbols) {
    LLVM::GlobalOp &global = messages[text];
    if (global)
      return global;
    std::string bytes = text.str();
    bytes.push_back('\0');
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
    std::string name =
        ("norm_fusion_assertion_" + Twine(messages.size() - 1)).str();
    global = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal, name,
                                    builder.getStringAttr(bytes));
    symbols.insert(global); // under a name that is new
    return global;
  }
  llvm::StringMap<LLVM::GlobalOp> messages;
};
} // namespace
