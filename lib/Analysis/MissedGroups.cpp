//===- MissedGroups.cpp - Why reductions weren't fused --------------------===//
//
// One reason for each set of reductions of a space that share a large operand
// and aren't in a group. The set is taken over all levels, so that reductions
// that a finished column result keeps apart are named together.
//
//===----------------------------------------------------------------------===//

#include "SpaceGrouping.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// "2 row and 0 column reductions".
static std::string describe(unsigned rows, unsigned columns) {
  return (Twine(rows) + " row and " + Twine(columns) + " column reductions")
      .str();
}

void SpaceGrouping::findMissed(bool rowOnly, ArrayRef<MixedGroup> groups,
                               SmallVectorImpl<MissedGroup> &missed) {
  llvm::DenseSet<Operation *> grouped;
  llvm::SmallBitVector columns;
  for (const MixedGroup &group : groups) {
    columns = group.columns;
    grouped.insert(group.rowReductions.begin(), group.rowReductions.end());
    grouped.insert(group.columnReductions.begin(),
                   group.columnReductions.end());
    for (auto [op, inner] : group.continued)
      grouped.insert(op);
  }
  SmallVector<Operation *> left;
  llvm::copy_if(reductions, std::back_inserter(left),
                [&](Operation *op) { return !grouped.contains(op); });
  if (left.empty())
    return;
  // Without a group, a reduction over the fastest axis of a full-size operand
  // is a row reduction, and what others keep is a row.
  if (columns.empty()) {
    columns = allAxes;
    columns.reset(getMember(left.front())->reduced);
    for (Operation *op : llvm::reverse(left)) {
      const llvm::SmallBitVector &reduced = getMember(op)->reduced;
      for (const SpaceRead &read : getMember(op)->reads) {
        std::optional<AxisMap> axes = space->getAxes(read.value);
        if (!axes || !read.full || reduced == allAxes)
          continue;
        AxisList flat;
        for (const AxisList &list : *axes)
          llvm::append_range(flat, list);
        if (reduced.test(flat.back()))
          columns = reduced;
      }
    }
  }
  Orientation o;
  o.columns = columns;
  assignLevels(o);

  // Sets over all levels: what each reduction reads at its own level, joined
  // where they share a value.
  llvm::DenseMap<void *, void *> classes;
  for (Operation *op : left)
    tie(o, op, o.reductionLevels.lookup(op), classes);
  llvm::MapVector<void *, SmallVector<Operation *>> sets;
  for (Operation *op : left)
    sets[findClass(classes, op)].push_back(op);
  for (auto &[root, ops] : sets) {
    Operation *row = nullptr, *column = nullptr, *other = nullptr;
    unsigned rows = 0, cols = 0;
    for (Operation *op : ops) {
      Role role = getRole(op, columns);
      if (role == Role::row) {
        row = op;
        ++rows;
      } else if (role == Role::column) {
        column = op;
        ++cols;
      } else {
        other = op;
      }
    }
    std::string found = describe(rows, cols);
    if (row && column) {
      // Both kinds, at different times: a column result or another op that
      // had to be finished in between.
      Operation *early = nullptr;
      for (Operation *op : ops)
        if (getRole(op, columns) == Role::column && feedsSpace(op))
          early = op;
      if (early)
        missed.push_back({"column-result-used-in-space", early, found,
                          "column results that leave the rows x columns space"});
      else
        missed.push_back({"cycle", column, found,
                          "no op outside the group between its reductions"});
    } else if (other && (row || column)) {
      missed.push_back({"no-common-space", other,
                        found + " and one over other dimensions",
                        "reductions over all columns or down the rows of one "
                        "space"});
    } else if (row) {
      if (!rowOnly)
        missed.push_back({"no-column-reduction", row, found,
                          "a column reduction of the same operands"});
    } else if (column) {
      missed.push_back({"no-row-reduction", column, found,
                        "a row reduction of the same operands"});
    } else {
      missed.push_back({"no-common-space", other,
                        "reductions over other dimensions",
                        "reductions over all columns or down the rows of one "
                        "space"});
    }
  }
}
