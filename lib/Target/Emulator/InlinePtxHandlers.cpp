//===- InlinePtxHandlers.cpp - What each PTX instruction becomes ----------===//
//
// The handlers of the table in InlinePtx.cpp: operands of one statement to LLVM
// IR. A handler that can't make sense of its operands returns false.
//
//===----------------------------------------------------------------------===//

#include "InlinePtx.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::emulator;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Type *emulator::typeOf(LLVMContext &context, StringRef name) {
  if (name == "pred")
    return Type::getInt1Ty(context);
  if (name == "f32")
    return Type::getFloatTy(context);
  if (name == "f64")
    return Type::getDoubleTy(context);
  if (name == "bf16")
    return Type::getBFloatTy(context);
  if (name == "f16")
    return Type::getHalfTy(context);
  if (name == "bf16x2")
    return FixedVectorType::get(Type::getBFloatTy(context), 2);
  if (name == "f16x2")
    return FixedVectorType::get(Type::getHalfTy(context), 2);
  unsigned bits;
  if (name.size() > 1 && StringRef("bus").contains(name[0]) &&
      !name.drop_front().getAsInteger(10, bits))
    return Type::getIntNTy(context, bits);
  return nullptr;
}

Type *Decoder::getType(const Statement &statement) {
  for (const std::string &modifier : llvm::reverse(statement.modifiers))
    if (Type *type = typeOf(builder.getContext(), modifier))
      return type;
  return nullptr;
}

Value *Decoder::read(StringRef text, unsigned bits) {
  text = text.trim();
  Type *type = builder.getIntNTy(bits);
  if (Slot *slot = find(text)) {
    Value *value = slot->memory ? builder.CreateLoad(slot->type, slot->memory)
                                : slot->value;
    if (value->getType()->isPointerTy())
      value = builder.CreatePtrToInt(value, builder.getInt64Ty());
    else if (!value->getType()->isIntegerTy())
      value = builder.CreateBitCast(
          value, builder.getIntNTy(value->getType()->getPrimitiveSizeInBits()));
    return builder.CreateZExtOrTrunc(value, type);
  }
  if (text.starts_with("%")) {
    static const StringMap<Register> registers = {
        {"%tid.x", Register::tidX},
        {"%ntid.x", Register::ntidX},
        {"%ctaid.x", Register::ctaidX},
        {"%nctaid.x", Register::nctaidX},
        {"%laneid", Register::laneid},
        {"%warpid", Register::warpid},
        {"%smid", Register::smid},
        {"%nsmid", Register::nsmid},
        {"%cluster_ctarank", Register::clusterCtarank},
        {"%cluster_nctarank", Register::clusterNctarank}};
    auto entry = registers.find(text);
    if (entry != registers.end())
      return builder.CreateZExtOrTrunc(l.readRegister(entry->second), type);
    if (text == "%clock64" || text == "%globaltimer" || text == "%clock")
      return builder.CreateZExtOrTrunc(
          call("nf_emu_clock", builder.getInt64Ty(), {}), type);
    return nullptr;
  }
  if (text.starts_with_insensitive("0f") ||
      text.starts_with_insensitive("0d")) {
    uint64_t number;
    if (text.drop_front(2).getAsInteger(16, number))
      return nullptr;
    return builder.getIntN(bits, number);
  }
  if (text.contains('.')) {
    double number;
    if (text.getAsDouble(number))
      return nullptr;
    if (bits == 32)
      return builder.getInt32(bit_cast<uint32_t>(float(number)));
    return builder.getInt64(bit_cast<uint64_t>(number));
  }
  text.consume_back("U");
  int64_t number;
  uint64_t unsignedNumber;
  if (!text.getAsInteger(0, number))
    return ConstantInt::getSigned(type, number, /*ImplicitTrunc=*/true);
  if (!text.getAsInteger(0, unsignedNumber))
    return ConstantInt::get(type, unsignedNumber, false, true);
  return nullptr;
}

Value *Decoder::readPredicate(StringRef text, bool negated) {
  text = text.trim();
  negated ^= text.consume_front("!");
  Slot *slot = find(text);
  if (!slot)
    return nullptr;
  Value *value = read(text, slot->type->getPrimitiveSizeInBits());
  value = builder.CreateICmpNE(value, ConstantInt::get(value->getType(), 0));
  return negated ? builder.CreateNot(value) : value;
}

bool Decoder::write(StringRef text, Value *value) {
  text = text.trim();
  if (text == "_")
    return true;
  Slot *slot = find(text);
  if (!slot || !slot->memory || !value)
    return false;
  if (!value->getType()->isIntegerTy())
    value = value->getType()->isPointerTy()
                ? builder.CreatePtrToInt(value, builder.getInt64Ty())
                : builder.CreateBitCast(
                      value, builder.getIntNTy(
                                 value->getType()->getPrimitiveSizeInBits()));
  if (slot->type->isPointerTy()) {
    value = builder.CreateIntToPtr(
        builder.CreateZExtOrTrunc(value, builder.getInt64Ty()), slot->type);
  } else {
    value = builder.CreateZExtOrTrunc(
        value, builder.getIntNTy(slot->type->getPrimitiveSizeInBits()));
    value = builder.CreateBitCast(value, slot->type);
  }
  builder.CreateStore(value, slot->memory);
  return true;
}

Value *Decoder::address(StringRef text) {
  text = text.trim();
  if (!text.consume_front("[") || !text.consume_back("]"))
    return nullptr;
  auto [base, offset] = text.split('+');
  int64_t bytes = 0;
  if (!offset.empty() && offset.trim().getAsInteger(0, bytes))
    return nullptr;
  base = base.trim();
  Value *pointer = nullptr;
  Slot *slot = find(base);
  if (slot && slot->value && slot->value->getType()->isPointerTy())
    pointer = l.pointer(slot->value);
  else if (Value *bits =
               read(base, slot && slot->type->isIntegerTy(32) ? 32 : 64))
    pointer = l.pointer(bits);
  if (!pointer || bytes == 0)
    return pointer;
  return builder.CreateConstGEP1_64(builder.getInt8Ty(), pointer, bytes);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

AccessInfo Decoder::getAccess(const Statement &statement, AccessKind kind,
                              uint64_t bytes) {
  AccessInfo info;
  info.kind = kind;
  info.alignment = bytes;
  info.scope = Scope::system;
  for (StringRef modifier : statement.modifiers) {
    info.ordering = StringSwitch<Ordering>(modifier)
                        .Case("relaxed", Ordering::relaxed)
                        .Case("acquire", Ordering::acquire)
                        .Case("release", Ordering::release)
                        .Case("acq_rel", Ordering::acquireRelease)
                        .Case("volatile", Ordering::volatile_)
                        .Default(info.ordering);
    info.scope = StringSwitch<Scope>(modifier)
                     .Case("cta", Scope::block)
                     .Case("cluster", Scope::cluster)
                     .Case("gpu", Scope::device)
                     .Default(info.scope);
    info.space = StringSwitch<Space>(modifier)
                     .Case("global", Space::global)
                     .Cases({"shared", "shared::cta"}, Space::shared)
                     .Case("shared::cluster", Space::cluster)
                     .Default(info.space);
  }
  return info;
}

bool Decoder::load(const Statement &statement) {
  Type *type = getType(statement);
  if (!type || statement.operands.size() < 2)
    return false;
  SmallVector<std::string> targets = vector(statement.operands[0]);
  Value *pointer = address(statement.operands[1]);
  if (!pointer)
    return false;
  unsigned bits = type->getScalarSizeInBits();
  auto *vectorType =
      FixedVectorType::get(builder.getIntNTy(bits), targets.size());
  uint64_t bytes = bits / 8 * targets.size();
  l.access(pointer, bytes, getAccess(statement, AccessKind::read, bytes));
  Value *value = builder.CreateAlignedLoad(vectorType, pointer, Align(1));
  for (auto [i, target] : llvm::enumerate(targets))
    if (!write(target, builder.CreateExtractElement(value, uint64_t(i))))
      return false;
  return true;
}

bool Decoder::store(const Statement &statement) {
  if (statement.has("async"))
    return storeAsync(statement);
  Type *type = getType(statement);
  if (!type || statement.operands.size() < 2)
    return false;
  Value *pointer = address(statement.operands[0]);
  SmallVector<std::string> sources = vector(statement.operands[1]);
  if (!pointer)
    return false;
  unsigned bits = type->getScalarSizeInBits();
  Value *value = PoisonValue::get(
      FixedVectorType::get(builder.getIntNTy(bits), sources.size()));
  for (auto [i, source] : llvm::enumerate(sources)) {
    Value *element = read(source, bits);
    if (!element)
      return false;
    value = builder.CreateInsertElement(value, element, uint64_t(i));
  }
  uint64_t bytes = bits / 8 * sources.size();
  l.access(pointer, bytes, getAccess(statement, AccessKind::write, bytes));
  builder.CreateAlignedStore(value, pointer, Align(1));
  return true;
}

bool Decoder::storeAsync(const Statement &statement) {
  Type *type = getType(statement);
  if (!type || statement.operands.size() != 3)
    return false;
  Value *pointer = address(statement.operands[0]);
  SmallVector<std::string> sources = vector(statement.operands[1]);
  Value *barrier = address(statement.operands[2]);
  unsigned bits = type->getScalarSizeInBits();
  if (!pointer || !barrier || sources.size() * bits > 128)
    return false;
  AllocaInst *memory = createSlot(builder.getInt128Ty());
  for (auto [i, source] : llvm::enumerate(sources)) {
    Value *element = read(source, bits);
    if (!element)
      return false;
    builder.CreateStore(element, builder.CreateConstGEP1_64(
                                     builder.getIntNTy(bits), memory, i));
  }
  call("nf_emu_st_async", builder.getVoidTy(),
       {pointer, memory, l.constant(bits / 8 * sources.size()), barrier});
  return true;
}

bool Decoder::atomic(const Statement &statement) {
  Type *type = getType(statement);
  bool reduction = statement.opcode == "red";
  if (statement.has("async") || !type ||
      statement.operands.size() < (reduction ? 2 : 3))
    return false;
  unsigned first = reduction ? 0 : 1;
  Value *pointer = address(statement.operands[first]);
  if (!pointer)
    return false;
  unsigned bits = type->getScalarSizeInBits() * (type->isVectorTy() ? 2 : 1);
  Value *operand = read(statement.operands[first + 1], bits);
  if (!operand)
    return false;
  AccessInfo info = getAccess(statement, AccessKind::update, bits / 8);
  if (info.ordering == Ordering::plain)
    info.ordering = Ordering::relaxed;
  if (!llvm::is_contained(statement.modifiers, std::string("sys")) &&
      info.scope == Scope::system)
    info.scope = Scope::device; // PTX's default
  l.access(pointer, bits / 8, info);
  auto order = AtomicOrdering::Monotonic;
  Value *old = nullptr;
  if (statement.has("cas")) {
    if (statement.operands.size() < first + 3)
      return false;
    Value *desired = read(statement.operands[first + 2], bits);
    if (!desired)
      return false;
    old = builder.CreateExtractValue(
        builder.CreateAtomicCmpXchg(pointer, operand, desired, Align(bits / 8),
                                    order, order),
        0);
  } else {
    bool isFloat = type->isFPOrFPVectorTy();
    bool isSigned = statement.modifiers.back()[0] == 's';
    auto kind = AtomicRMWInst::BAD_BINOP;
    for (StringRef modifier : statement.modifiers)
      kind =
          StringSwitch<AtomicRMWInst::BinOp>(modifier)
              .Case("add", isFloat ? AtomicRMWInst::FAdd : AtomicRMWInst::Add)
              .Case("and", AtomicRMWInst::And)
              .Case("or", AtomicRMWInst::Or)
              .Case("xor", AtomicRMWInst::Xor)
              .Case("exch", AtomicRMWInst::Xchg)
              .Case("inc", AtomicRMWInst::UIncWrap)
              .Case("dec", AtomicRMWInst::UDecWrap)
              .Case("min", isFloat    ? AtomicRMWInst::FMin
                           : isSigned ? AtomicRMWInst::Min
                                      : AtomicRMWInst::UMin)
              .Case("max", isFloat    ? AtomicRMWInst::FMax
                           : isSigned ? AtomicRMWInst::Max
                                      : AtomicRMWInst::UMax)
              .Default(kind);
    if (kind == AtomicRMWInst::BAD_BINOP)
      return false;
    if (isFloat)
      operand = builder.CreateBitCast(operand, type);
    old =
        builder.CreateAtomicRMW(kind, pointer, operand, Align(bits / 8), order);
  }
  return reduction || write(statement.operands[0], old);
}

bool Decoder::fence(const Statement &statement) {
  if (statement.has("proxy")) {
    call("nf_emu_fence_proxy", builder.getVoidTy(), {});
    return true;
  }
  if (statement.has("mbarrier_init")) {
    call("nf_emu_fence_mbarrier_init", builder.getVoidTy(), {});
    return true;
  }
  Scope scope = Scope::block;
  for (StringRef modifier : statement.modifiers)
    scope = StringSwitch<Scope>(modifier)
                .Case("cluster", Scope::cluster)
                .Cases({"gpu", "gl"}, Scope::device)
                .Case("sys", Scope::system)
                .Default(scope);
  Ordering ordering = Ordering::sequential;
  if (statement.has("acq_rel"))
    ordering = Ordering::acquireRelease;
  if (statement.has("acquire"))
    ordering = Ordering::acquire;
  if (statement.has("release"))
    ordering = Ordering::release;
  l.fence(ordering, scope);
  return true;
}

bool Decoder::copyAsync(const Statement &statement) {
  ArrayRef<std::string> operands = statement.operands;
  Type *none = builder.getVoidTy();
  if (statement.has("bulk")) {
    if (statement.has("prefetch"))
      return true;
    if (statement.has("commit_group")) {
      call("nf_emu_bulk_commit", none, {});
      return true;
    }
    if (statement.has("wait_group")) {
      Value *groups = operands.empty() ? nullptr : read(operands[0], 32);
      if (groups)
        call("nf_emu_bulk_wait", none, {groups});
      return groups;
    }
    bool toGlobal =
        !statement.modifiers.empty() && statement.modifiers[2] == "global";
    if (operands.size() < (toGlobal ? 3u : 4u))
      return false;
    Value *target = address(operands[0]), *source = address(operands[1]),
          *bytes = read(operands[2], 32);
    if (!target || !source || !bytes)
      return false;
    if (toGlobal) {
      call("nf_emu_bulk_to_global", none, {target, source, bytes});
      return true;
    }
    Value *barrier = address(operands[3]), *mask = l.constant(0);
    if (statement.has("multicast::cluster"))
      mask = operands.size() > 4 ? read(operands[4], 32) : nullptr;
    if (!barrier || !mask)
      return false;
    call("nf_emu_bulk_to_shared", none, {target, barrier, source, bytes, mask});
    return true;
  }
  if (statement.has("commit_group")) {
    call("nf_emu_cp_async_commit", none, {});
    return true;
  }
  if (statement.has("wait_all")) {
    call("nf_emu_cp_async_wait_all", none, {});
    return true;
  }
  if (statement.has("wait_group")) {
    Value *groups = operands.empty() ? nullptr : read(operands[0], 32);
    if (groups)
      call("nf_emu_cp_async_wait", none, {groups});
    return groups;
  }
  if (statement.has("mbarrier")) {
    Value *barrier = operands.empty() ? nullptr : address(operands[0]);
    if (barrier)
      call("nf_emu_cp_async_mbarrier_arrive", none,
           {barrier, l.constant(!statement.has("noinc"))});
    return barrier;
  }
  if (operands.size() < 3)
    return false;
  Value *target = address(operands[0]), *source = address(operands[1]),
        *bytes = read(operands[2], 32);
  bool hint = statement.has("L2::cache_hint");
  Value *used =
      operands.size() > (hint ? 4u : 3u) ? read(operands[3], 32) : bytes;
  if (!target || !source || !bytes || !used)
    return false;
  call("nf_emu_cp_async", none, {target, source, bytes, used});
  return true;
}

bool Decoder::ldmatrix(const Statement &statement) {
  if (statement.operands.size() != 2 || !statement.has("m8n8") ||
      !statement.has("b16"))
    return false;
  SmallVector<std::string> targets = vector(statement.operands[0]);
  Value *pointer = address(statement.operands[1]);
  if (!pointer || targets.size() > 4)
    return false;
  AllocaInst *memory = createSlot(builder.getInt128Ty());
  call("nf_emu_ldmatrix", builder.getVoidTy(),
       {pointer, memory, l.constant(targets.size()),
        l.constant(statement.has("trans"))});
  for (auto [i, target] : llvm::enumerate(targets))
    if (!write(target,
               builder.CreateLoad(builder.getInt32Ty(),
                                  builder.CreateConstGEP1_64(
                                      builder.getInt32Ty(), memory, i))))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Synchronisation
//===----------------------------------------------------------------------===//

bool Decoder::barrier(const Statement &statement) {
  ArrayRef<std::string> operands = statement.operands;
  Type *none = builder.getVoidTy();
  if (statement.has("cluster")) {
    if (statement.has("arrive"))
      call("nf_emu_cluster_arrive", none,
           {l.constant(statement.has("relaxed"))});
    else
      call("nf_emu_cluster_wait", none, {});
    return true;
  }
  if (operands.empty())
    return false;
  Value *id = read(operands[0], 32);
  if (statement.has("warp")) {
    if (id)
      call("nf_emu_warp_sync", none, {id});
    return id;
  }
  Value *count = operands.size() > 1 ? read(operands[1], 32) : l.constant(0);
  if (!id || !count)
    return false;
  BarrierKind kind =
      statement.has("arrive") ? BarrierKind::arrive : BarrierKind::sync;
  call("nf_emu_barrier", builder.getInt32Ty(),
       {l.number(kind), id, count, l.constant(0)});
  return true;
}

bool Decoder::mbarrier(const Statement &statement) {
  ArrayRef<std::string> operands = statement.operands;
  Type *none = builder.getVoidTy();
  bool arrives = statement.has("arrive") || statement.has("arrive_drop");
  if (statement.has("init") || (statement.has("expect_tx") && !arrives) ||
      statement.has("complete_tx")) {
    if (operands.size() != 2)
      return false;
    Value *pointer = address(operands[0]), *number = read(operands[1], 32);
    if (!pointer || !number)
      return false;
    call(statement.has("init")        ? "nf_emu_mbarrier_init"
         : statement.has("expect_tx") ? "nf_emu_mbarrier_expect_tx"
                                      : "nf_emu_mbarrier_complete_tx",
         none, {pointer, number});
    return true;
  }
  if (statement.has("inval")) {
    Value *pointer = operands.empty() ? nullptr : address(operands[0]);
    if (pointer)
      call("nf_emu_mbarrier_inval", none, {pointer});
    return pointer;
  }
  if (arrives) {
    // The state comes first, unless the barrier is another block's.
    unsigned first = !operands.empty() && operands[0][0] == '[' ? 0 : 1;
    if (operands.size() <= first)
      return false;
    Value *pointer = address(operands[first]);
    Value *number =
        operands.size() > first + 1 ? read(operands[first + 1], 32) : nullptr;
    if (!pointer || (operands.size() > first + 1 && !number))
      return false;
    bool expects = statement.has("expect_tx");
    uint32_t flags = (statement.has("arrive_drop") ? arriveDrop : 0) |
                     (statement.has("relaxed") ? arriveRelaxed : 0) |
                     (statement.has("cluster") ? arriveClusterScope : 0);
    Value *token =
        call("nf_emu_mbarrier_arrive", builder.getInt64Ty(),
             {pointer, expects || !number ? l.constant(1) : number,
              expects && number ? number : l.constant(0), l.constant(flags)});
    return first == 0 || write(operands[0], token);
  }
  if (statement.has("try_wait") || statement.has("test_wait")) {
    if (operands.size() < 3)
      return false;
    bool parity = statement.has("parity");
    Value *pointer = address(operands[1]);
    Value *phase = read(operands[2], parity ? 32 : 64);
    if (!pointer || !phase)
      return false;
    Value *done =
        call("nf_emu_mbarrier_wait", builder.getInt32Ty(),
             {pointer, builder.CreateZExt(phase, builder.getInt64Ty()),
              l.constant(parity), l.constant(statement.has("try_wait"))});
    return write(operands[0], builder.CreateICmpNE(done, l.constant(0)));
  }
  return false;
}

bool Decoder::mapAddress(const Statement &statement) {
  if (statement.operands.size() != 3)
    return false;
  StringRef text = statement.operands[1];
  Slot *slot = find(text);
  Value *pointer =
      slot && slot->value && slot->value->getType()->isPointerTy()
          ? slot->value
          : read(text, slot && slot->type->isIntegerTy(32) ? 32 : 64);
  Value *rank = read(statement.operands[2], 32);
  if (!pointer || !rank)
    return false;
  return write(statement.operands[0], call("nf_emu_mapa", builder.getPtrTy(),
                                           {l.pointer(pointer), rank}));
}

bool Decoder::exit(const Statement &statement) {
  call("nf_emu_exit", builder.getVoidTy(), {});
  return true;
}

bool Decoder::createPolicy(const Statement &statement) {
  return !statement.operands.empty() &&
         write(statement.operands[0], builder.getInt64(0));
}

bool Decoder::gridDependency(const Statement &statement) {
  call(statement.has("wait") ? "nf_emu_griddep_wait" : "nf_emu_griddep_launch",
       builder.getVoidTy(), {});
  return true;
}
