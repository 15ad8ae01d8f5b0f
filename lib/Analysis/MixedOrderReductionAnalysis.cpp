//===- MixedOrderReductionAnalysis.cpp - Groups to fuse -------------------===//
//
// Grows the spaces of a block from its reductions, largest iteration space
// first, and collects the groups of each.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Analysis/MixedOrderReductionAnalysis.h"

#include "SpaceGrouping.h"

using namespace mlir;
using namespace mlir::norm_fusion;

MixedOrderReductionAnalysis::MixedOrderReductionAnalysis(Block &block,
                                                         Options options)
    : info(block) {
  SmallVector<const PointOp *> seeds;
  for (Operation *op : info.getOps()) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || !info.isLive(op))
      continue;
    const PointOp *point = info.getPointOp(op);
    if (point && point->isReduction())
      seeds.push_back(point);
    StringRef why = info.getReason(op);
    if (point || linalgOp.getNumReductionLoops() == 0)
      continue;
    if (why == "unsupported-combiner")
      missed.push_back({why, op, "a reduction whose body isn't one combiner",
                        "a commutative, associative combiner of the "
                        "accumulator and one value"});
    else if (why == "non-projected-operand")
      missed.push_back({why, op, "an operand that isn't read at a projection "
                                 "of the loops",
                        "operands that vary over rows and columns"});
  }
  // A space of more loops can hold reductions of fewer, not the reverse.
  llvm::stable_sort(seeds, [](const PointOp *a, const PointOp *b) {
    auto size = [](const PointOp *point) {
      return llvm::count_if(point->extents,
                            [](int64_t extent) { return extent != 1; });
    };
    return size(a) > size(b);
  });
  llvm::DenseSet<Operation *> claimed;
  for (const PointOp *seed : seeds) {
    if (claimed.contains(seed->op))
      continue;
    auto space = std::make_shared<IterationSpace>(info, *seed);
    SpaceGrouping grouping(info, space, claimed);
    unsigned before = groups.size();
    grouping.findGroups(options.rowOnly, groups);
    grouping.findMissed(options.rowOnly,
                        ArrayRef<MixedGroup>(groups).drop_front(before), missed);
    claimed.insert(space->getReductions().begin(),
                   space->getReductions().end());
  }
}
