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
  for (auto [number, op] : llvm::enumerate(info.getOps())) {
    if (!info.isLive(number) || !info.hasReductionLoops(number))
      continue;
    const PointOp *point = info.getPointOp(number);
    if (point && point->isReduction())
      seeds.push_back(point);
    StringRef why = info.getReason(number);
    if (point)
      continue;
    if (why == "unsupported-combiner")
      missed.push_back({why, op, "a reduction whose body isn't one combiner",
                        "a commutative, associative combiner of the "
                        "accumulator and one value"});
    else if (why == "unsupported-operation")
      missed.push_back({why, op, "a body with an operation that no kernel has",
                        "operations of arith and math with one result, "
                        "rounded to nearest even"});
    else if (why == "side-effect")
      missed.push_back({why, op, "a body with a side effect",
                        "a body that computes its results alone"});
    else if (why == "unsupported-type")
      missed.push_back({why, op, "elements that aren't numbers",
                        "floats, integers or indices"});
    else if (why == "encoded-tensor")
      missed.push_back(
          {why, op, "a tensor with an encoding", "tensors without one"});
    else if (why == "unreduced-result")
      missed.push_back({why, op,
                        "a reduction with a result that varies over a "
                        "dimension that is reduced",
                        "results of reductions alone, or beside sums of rows "
                        "what is added up; others are an op of their own"});
    else if (why == "non-projected-operand")
      missed.push_back({why, op, "an operand that isn't read at a projection "
                                 "of the loops",
                        "operands that vary over rows and columns"});
  }
  // A space of more loops can hold reductions of fewer, not the reverse.
  auto getSize = [](const PointOp *point) {
    return llvm::count_if(point->extents,
                          [](int64_t extent) { return extent != 1; });
  };
  SmallVector<std::pair<unsigned, const PointOp *>, 0> order;
  for (const PointOp *seed : seeds)
    order.push_back({getSize(seed), seed});
  llvm::stable_sort(
      order, [](const auto &a, const auto &b) { return a.first > b.first; });
  llvm::BitVector claimed(info.getOps().size());
  for (auto [size, seed] : order) {
    if (claimed[seed->number])
      continue;
    // Collapsed dimensions of 0 and of unknown extent couldn't be told apart.
    if (llvm::is_contained(seed->extents, 0) &&
        llvm::any_of(seed->extents, ShapedType::isDynamic)) {
      missed.push_back({"unknown-size", info.getOps()[seed->number],
                        "no elements, in dimensions of unknown extent",
                        "static extents where one is 0"});
      continue;
    }
    auto space = std::make_shared<IterationSpace>(info, *seed);
    SpaceGrouping grouping(info, space, claimed);
    unsigned before = groups.size();
    grouping.findGroups(options.rowOnly, groups);
    grouping.claim(ArrayRef<MixedGroup>(groups).drop_front(before), *seed,
                   claimed);
    grouping.findMissed(options.rowOnly, *seed, claimed, missed);
  }
}
