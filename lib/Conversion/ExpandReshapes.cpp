//===- ExpandReshapes.cpp - Dimensions taken apart in odd ways ------------===//
//
// Two kinds of memref.expand_shape break upstream passes (LLVM 22). Where a
// dimension becomes several of dynamic size, expand-strided-metadata crashes;
// where it becomes some of size 0, generate-runtime-verification writes a
// division by 0. Here these become what the former makes of others: a
// memref.reinterpret_cast with the sizes that the op says and their products
// for strides.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONEXPANDRESHAPES
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;

/// True if a dimension of the source becomes several of dynamic size, or some
/// of size 0.
static bool breaksPasses(memref::ExpandShapeOp op) {
  MemRefType type = op.getResultType();
  auto hasSeveralDynamic = [&](const ReassociationIndices &group) {
    return llvm::count_if(group,
                          [&](int64_t d) { return type.isDynamicDim(d); }) > 1;
  };
  return llvm::is_contained(type.getShape(), 0) ||
         llvm::any_of(op.getReassociationIndices(), hasSeveralDynamic);
}

static void expand(memref::ExpandShapeOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  MemRefType type = op.getResultType();
  auto [knownStrides, knownOffset] = type.getStridesAndOffset();
  auto source = memref::ExtractStridedMetadataOp::create(b, loc, op.getSrc());
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  SmallVector<OpFoldResult> strides(type.getRank());
  for (auto [outer, group] :
       llvm::zip(source.getStrides(), op.getReassociationIndices())) {
    Value stride = outer;
    for (int64_t d : llvm::reverse(group)) {
      strides[d] = ShapedType::isDynamic(knownStrides[d])
                       ? OpFoldResult(stride)
                       : b.getIndexAttr(knownStrides[d]);
      stride = b.createOrFold<arith::MulIOp>(
          loc, stride, getValueOrCreateConstantIndexOp(b, loc, sizes[d]));
    }
  }
  OpFoldResult offset = ShapedType::isDynamic(knownOffset)
                            ? OpFoldResult(source.getOffset())
                            : b.getIndexAttr(knownOffset);
  Value expanded = memref::ReinterpretCastOp::create(
      b, loc, type, source.getBaseBuffer(), offset, sizes, strides);
  op.replaceAllUsesWith(expanded);
  op.erase();
}

namespace {
struct ExpandReshapesPass final
    : norm_fusion::impl::NormFusionExpandReshapesBase<ExpandReshapesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<memref::ExpandShapeOp> ops;
    getOperation()->walk([&](memref::ExpandShapeOp op) {
      if (breaksPasses(op))
        ops.push_back(op);
    });
    llvm::for_each(ops, expand);
  }
};
} // namespace
