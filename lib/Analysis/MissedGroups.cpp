//===- MissedGroups.cpp - Why reductions weren't fused --------------------===//

#include "SpaceGrouping.h"

using namespace mlir;
using namespace mlir::norm_fusion;

void SpaceGrouping::findMissed(bool rowOnly, ArrayRef<MixedGroup> groups,
                               SmallVectorImpl<MissedGroup> &missed) {}
