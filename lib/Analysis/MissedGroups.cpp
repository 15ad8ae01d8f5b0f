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

void SpaceGrouping::findMissed(bool rowOnly, const PointOp &seed,
                               const llvm::BitVector &claimed,
                               SmallVectorImpl<MissedGroup> &missed) {
  if (getMember(seed.number) == none)
    missed.push_back({"no-common-space", info.getOps()[seed.number],
                      "a dimension that is reduced and that nothing which is "
                      "read varies over, or values read in two layouts",
                      "operands that vary over all dimensions, each read as it "
                      "is made"});
  llvm::SmallBitVector columns = groupedColumns;
  auto leaveOut = [&](ArrayRef<unsigned> others, StringRef reason,
                      StringRef found, StringRef needed) {
    for (unsigned reduction : others) {
      grouped.insert(getOp(reduction));
      missed.push_back({reason, getOp(reduction), found.str(), needed.str()});
    }
  };
  leaveOut(otherRows, "different-rows",
           "a column reduction over other rows than the group's",
           "column reductions of one group over the same rows");
  leaveOut(otherColumns, "different-columns",
           "a row reduction of what varies over some of the group's columns "
           "alone",
           "row reductions of what varies over all columns");
  SmallVector<unsigned> left;
  llvm::copy_if(reductions, std::back_inserter(left), [&](unsigned reduction) {
    return claimed[members[reduction].number] &&
           !grouped.contains(getOp(reduction));
  });
  if (left.empty())
    return;
  // Without a group, a reduction over the fastest axis of a full-size operand
  // is a row reduction, and what others keep is a row.
  if (columns.empty()) {
    columns = allAxes;
    columns.reset(members[left.front()].reduced);
    for (unsigned reduction : llvm::reverse(left)) {
      const llvm::SmallBitVector &reduced = members[reduction].reduced;
      for (const SpaceRead &read : members[reduction].reads) {
        if (!read.full || reduced == allAxes)
          continue;
        AxisList flat;
        for (const AxisList &list : space->getMap(space->getAxesId(read.value)))
          llvm::append_range(flat, list);
        if (reduced.test(flat.back()))
          columns = reduced;
      }
    }
  }
  Orientation o;
  o.columns = columns;
  assignRoles(o);
  assignLevels(o);

  // Sets over all levels: what each reduction reads at its own level, joined
  // where they share a value.
  DisjointSets classes;
  for (unsigned reduction : left)
    forEachTie(o, reduction, o.reductionLevels.lookup(reduction),
               [&](unsigned member, unsigned node, unsigned value) {
                 classes.join(member, node);
                 return true;
               });
  // Begins with what a group that reads the same operands has finished.
  auto beginsWithGroup = [&](unsigned reduction) {
    const SpaceMember &member = members[reduction];
    return llvm::any_of(member.point->results, [&](const PointResult &result) {
      auto group =
          result.reduction
              ? result.reduction->init.getDefiningOp<MixedReductionOp>()
              : MixedReductionOp();
      return group && llvm::any_of(member.reads, [&](const SpaceRead &read) {
               return read.full &&
                      llvm::is_contained(group.getInputs(),
                                         info.getValue(read.value));
             });
    });
  };
  llvm::MapVector<unsigned, SmallVector<unsigned>> sets;
  for (unsigned reduction : left)
    sets[classes.find(reduction)].push_back(reduction);
  for (auto &[root, ops] : sets) {
    Operation *row = nullptr, *column = nullptr, *other = nullptr;
    unsigned rows = 0, cols = 0;
    for (unsigned reduction : ops) {
      Role role = o.roles[reduction];
      Operation *op = getOp(reduction);
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
      for (unsigned reduction : ops)
        if (o.roles[reduction] == Role::column && feedsSpace(reduction))
          early = getOp(reduction);
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
        missed.push_back(
            {"no-column-reduction", row, found,
             "a column reduction of the same operands in this block"});
    } else if (column && llvm::all_of(ops, beginsWithGroup)) {
      missed.push_back({"no-row-reduction", column,
                        "a column reduction that begins with the result of a "
                        "group of the same operands",
                        "an init that is there before the group, the other "
                        "result added afterwards"});
    } else if (column) {
      missed.push_back({"no-row-reduction", column, found,
                        "a row reduction of the same operands in this block"});
    } else if (llvm::all_of(ops, [&](unsigned reduction) {
                 return members[reduction].reduced == allAxes;
               })) {
      missed.push_back({"no-common-space", other,
                        "reductions of all that they read, to one element (a "
                        "dimension of extent 1 is no rows)",
                        "reductions over all columns, or down the rows, of "
                        "rows x columns"});
    } else {
      missed.push_back({"no-common-space", other,
                        "reductions over other dimensions",
                        "reductions over all columns or down the rows of one "
                        "space"});
    }
  }
}
