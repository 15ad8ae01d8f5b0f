//===- SpaceMembers.cpp - The ops of an iteration space -------------------===//
//
// Which ops have a place in a space, what they read and really vary over there,
// and what they are to given columns: rows', columns' or elementwise.
//
//===----------------------------------------------------------------------===//

#include "SpaceGrouping.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

SpaceGrouping::SpaceGrouping(BlockInfo &info,
                             std::shared_ptr<IterationSpace> space,
                             const llvm::BitVector &claimed)
    : info(info), space(space), allAxes(space->getAllAxes()) {
  // Reductions that another space has already are none here.
  auto isMine = [&](unsigned number) {
    return info.isLive(number) && !claimed[number];
  };
  if (llvm::none_of(space->getReductions(), isMine))
    return;
  SmallVector<unsigned> ops = space->getOps();
  members.reserve(ops.size());
  for (unsigned number : ops) {
    if (!info.isLive(number))
      continue;
    if (info.isReshapeOp(number))
      addReshape(number);
    else if (!info.getPointOp(number)->isReduction() || isMine(number))
      addPoint(number);
  }
  for (auto [index, member] : llvm::enumerate(members))
    if (member.isReduction)
      reductions.push_back(index);
  if (reductions.empty())
    return;
  firstMember = reductions.front();
  first = members[firstMember].number;
  rangeSize = members.back().number - first + 1;
}

SpaceRead SpaceGrouping::getRead(unsigned value, bool match) const {
  SpaceRead read{value, none, /*match=*/true, info.isUniform(value), false};
  if (unsigned def = info.getDef(value); def != none)
    read.def = getMember(def);
  // Two norms may share what was broadcast of their weight.
  llvm::SmallBitVector varying(space->getNumAxes());
  addVarying(read, {}, varying);
  read.full = !read.uniform && varying == allAxes;
  read.match = match;
  return read;
}

void SpaceGrouping::addMember(SpaceMember member) {
  memberOf[member.number] = members.size();
  members.push_back(std::move(member));
}

void SpaceGrouping::addReshape(unsigned number) {
  if (!space->isMemberReshape(number))
    return;
  SpaceMember member;
  member.number = number;
  member.axes = getValueAxes(info.getFirstResultId(number));
  member.reduced.resize(space->getNumAxes());
  member.varying.emplace_back(space->getNumAxes());
  member.reads.push_back(getRead(info.getUsedIds(number).front(), true));
  addVarying(member.reads[0], member.axes, member.varying[0]);
  addMember(std::move(member));
}

void SpaceGrouping::addPoint(unsigned number) {
  const PointOp *point = info.getPointOp(number);
  IterationSpace::MapId loops = space->getLoopsId(number);
  SpaceMember member;
  member.number = number;
  member.point = point;
  member.axes = space->getSet(loops);
  member.reduced.resize(space->getNumAxes());
  for (unsigned loop : point->reduced.set_bits())
    for (unsigned axis : space->getMap(loops)[loop])
      member.reduced.set(axis);
  member.isReduction = member.reduced.any();
  auto agrees = [&](unsigned value, AffineMap map) {
    if (info.isUniform(value))
      return true;
    IterationSpace::MapId axes = space->getAxesId(value);
    return axes != IterationSpace::none &&
           axes == space->getRequired(loops, map);
  };
  for (const PointOperand &operand : point->operands) {
    bool match = agrees(operand.id, operand.map);
    if (!match && operand.unproven)
      return;
    member.reads.push_back(getRead(operand.id, match));
  }
  for (const PointResult &result : point->results) {
    if (!agrees(result.id, result.map))
      return;
    llvm::SmallBitVector &varying =
        member.varying.emplace_back(space->getNumAxes());
    llvm::SmallBitVector operands(point->operands.size(), true);
    llvm::SmallBitVector indexed = point->indexed;
    if (point->results.size() > 1) {
      auto roots = result.reduction ? result.reduction->getRoots()
                                    : SmallVector<Value>{result.yielded};
      operands = point->getReads(roots);
      indexed = point->getIndexed(roots);
    }
    for (unsigned loop : indexed.set_bits())
      for (unsigned axis : space->getMap(loops)[loop])
        varying.set(axis);
    auto getRequired = [&](AffineMap map) {
      return space->getSet(space->getRequired(loops, map));
    };
    for (unsigned operand : operands.set_bits())
      addVarying(member.reads[operand],
                 getRequired(point->operands[operand].map), varying);
    if (!result.reduction)
      continue;
    // Over axes that the elements don't vary over nothing is reduced.
    if (llvm::SmallBitVector(member.reduced).reset(varying).any())
      return;
    varying.reset(member.reduced);
    member.reads.push_back(
        getRead(result.reduction->initId,
                agrees(result.reduction->initId, result.map)));
    addVarying(member.reads.back(), getRequired(result.map), varying);
  }
  addMember(std::move(member));
}

void SpaceGrouping::addVarying(const SpaceRead &read,
                               const llvm::SmallBitVector &required,
                               llvm::SmallBitVector &axes) const {
  if (read.uniform)
    return;
  if (!read.match)
    axes |= required;
  else if (read.def != none)
    axes |=
        members[read.def].varying[read.value - info.getFirstResultId(
                                                   members[read.def].number)];
  else if (IterationSpace::MapId id = space->getAxesId(read.value);
           id != IterationSpace::none)
    axes |= space->getSet(id);
}

llvm::SmallBitVector SpaceGrouping::getValueAxes(unsigned value) const {
  IterationSpace::MapId axes = space->getAxesId(value);
  return axes != IterationSpace::none && !info.isUniform(value)
             ? space->getSet(axes)
             : llvm::SmallBitVector(space->getNumAxes());
}

/// The axes of `a` that aren't in `b`.
static llvm::SmallBitVector minus(llvm::SmallBitVector a,
                                  const llvm::SmallBitVector &b) {
  return a.reset(b);
}

Role SpaceGrouping::computeRole(const SpaceMember &member,
                                const llvm::SmallBitVector &columns) const {
  if (!member.isReduction)
    return Role::elementwise;
  // Columns are finished later than what isn't reduced beside them.
  if (member.point->hasUnreduced() && minus(member.reduced, columns).any())
    return Role::outside;
  if (member.reduced == allAxes)
    return Role::scalar;
  if (minus(member.reduced, columns).none())
    return minus(member.axes, columns) == minus(allAxes, columns)
               ? Role::row
               : Role::outside;
  return !member.reduced.anyCommon(columns) && member.axes == allAxes
             ? Role::column
             : Role::outside;
}

void SpaceGrouping::assignRoles(Orientation &o) const {
  for (const SpaceMember &member : members)
    o.roles.push_back(computeRole(member, o.columns));
}
