//===- LowerDeviceModule.cpp - Device LLVM IR to emulated host code -------===//
//
// Takes LLVM IR as the NVPTX backend would, and makes host code of it:
// intrinsics and inline PTX become calls of the emulator, shared variables
// become offsets into the running block's shared memory, and before every
// access to memory that other threads can see stands a call that checks it.
// x86 treats the address spaces 1, 3, 4 and 7 as flat, so pointers stay.
//
// What it doesn't know is an error with its name; nothing is skipped.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::emulator;

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

Value *Lowering::call(StringRef name, Type *result, ArrayRef<Value *> arguments,
                      Effects effects) {
  SmallVector<Type *> types;
  SmallVector<Value *> values;
  for (Value *argument : arguments) {
    if (argument->getType()->isPointerTy())
      argument = pointer(argument);
    types.push_back(argument->getType());
    values.push_back(argument);
  }
  FunctionCallee callee = module.getOrInsertFunction(
      name, FunctionType::get(result, types, /*isVarArg=*/false));
  auto *function = cast<Function>(callee.getCallee());
  function->setDoesNotThrow();
  if (effects == Effects::none) {
    function->setDoesNotAccessMemory();
    function->setWillReturn();
  } else if (effects == Effects::access) {
    function->setOnlyAccessesInaccessibleMemory();
  }
  return builder.CreateCall(callee, values);
}

Value *Lowering::pointer(Value *value) {
  Type *plain = builder.getPtrTy();
  if (value->getType() == plain)
    return value;
  if (value->getType()->isPointerTy())
    return builder.CreateAddrSpaceCast(value, plain);
  return builder.CreateIntToPtr(builder.CreateZExt(value, builder.getInt64Ty()),
                                plain);
}

Value *Lowering::readRegister(Register which) {
  return call("nf_emu_register", builder.getInt32Ty(), {number(which)},
              Effects::none);
}

void Lowering::access(Value *address, Value *bytes, AccessInfo info) {
  // Only an access that another thread may wait for is a switching point.
  bool plain = info.ordering == Ordering::plain;
  call(plain ? "nf_emu_access" : "nf_emu_atomic_access", builder.getVoidTy(),
       {address, bytes, constant(info.pack())},
       plain ? Effects::access : Effects::any);
}

void Lowering::fence(Ordering ordering, Scope scope) {
  call("nf_emu_fence", builder.getVoidTy(), {number(ordering), number(scope)});
}

Scope emulator::getScope(LLVMContext &context, SyncScope::ID id) {
  SmallVector<StringRef> names;
  context.getSyncScopeNames(names);
  StringRef name = id < names.size() ? names[id] : "";
  if (name == "block" || name == "singlethread")
    return Scope::block;
  if (name == "cluster")
    return Scope::cluster;
  if (name == "device")
    return Scope::device;
  return Scope::system;
}

Ordering emulator::getOrdering(AtomicOrdering ordering) {
  switch (ordering) {
  case AtomicOrdering::NotAtomic:
    return Ordering::plain;
  case AtomicOrdering::Unordered:
  case AtomicOrdering::Monotonic:
    return Ordering::relaxed;
  case AtomicOrdering::Acquire:
    return Ordering::acquire;
  case AtomicOrdering::Release:
    return Ordering::release;
  case AtomicOrdering::AcquireRelease:
    return Ordering::acquireRelease;
  case AtomicOrdering::SequentiallyConsistent:
    return Ordering::sequential;
  }
  llvm_unreachable("unknown ordering");
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {

/// Whether no other thread can see the `bytes` behind `pointer`, or none can
/// write them; in an array of the thread's own also that they are within it.
bool isPrivateOrConstant(const Value *pointer, uint64_t bytes,
                         const DataLayout &layout) {
  if (pointer->getType()->getPointerAddressSpace() == 4)
    return true;
  const auto *global = dyn_cast<GlobalVariable>(getUnderlyingObject(pointer));
  if (global && global->isConstant())
    return true;
  APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  const auto *array = dyn_cast<AllocaInst>(
      pointer->stripAndAccumulateConstantOffsets(layout, offset,
                                                 /*AllowNonInbounds=*/true));
  std::optional<TypeSize> size =
      array ? array->getAllocationSize(layout) : std::nullopt;
  return size && !offset.isNegative() &&
         offset.getZExtValue() <= size->getFixedValue() &&
         bytes <= size->getFixedValue() - offset.getZExtValue();
}

AccessInfo getInfo(Value *pointer, AccessKind kind, Align alignment) {
  AccessInfo info;
  info.kind = kind;
  info.alignment = alignment.value();
  unsigned space = pointer->getType()->getPointerAddressSpace();
  if (space == 1 || space == 3 || space == 7)
    info.space = Space(space);
  return info;
}

template <typename Inst> Ordering getInstOrdering(Inst *inst) {
  if (inst->isAtomic())
    return getOrdering(inst->getOrdering());
  return inst->isVolatile() ? Ordering::volatile_ : Ordering::plain;
}

/// Puts the checks before the accesses of one function.
class Instrumenter {
public:
  explicit Instrumenter(Lowering &lowering)
      : lowering(lowering), layout(lowering.module.getDataLayout()) {}

  Error run(Function &function) {
    SmallVector<Instruction *> instructions;
    for (Instruction &inst : llvm::instructions(function))
      instructions.push_back(&inst);
    for (Instruction *inst : instructions) {
      lowering.builder.SetInsertPoint(inst);
      if (Error error = visit(inst))
        return error;
    }
    return Error::success();
  }

private:
  void check(Value *pointer, Type *type, AccessInfo info) {
    uint64_t bytes = layout.getTypeStoreSize(type);
    if (!isPrivateOrConstant(pointer, bytes, layout))
      lowering.access(pointer, bytes, info);
  }

  Error visit(Instruction *inst) {
    LLVMContext &context = inst->getContext();
    if (auto *load = dyn_cast<LoadInst>(inst)) {
      Value *pointer = load->getPointerOperand();
      AccessInfo info = getInfo(pointer, AccessKind::read, load->getAlign());
      info.ordering = getInstOrdering(load);
      if (load->isAtomic())
        info.scope = getScope(context, load->getSyncScopeID());
      check(pointer, load->getType(), info);
    } else if (auto *store = dyn_cast<StoreInst>(inst)) {
      Value *pointer = store->getPointerOperand();
      AccessInfo info = getInfo(pointer, AccessKind::write, store->getAlign());
      info.ordering = getInstOrdering(store);
      if (store->isAtomic())
        info.scope = getScope(context, store->getSyncScopeID());
      check(pointer, store->getValueOperand()->getType(), info);
    } else if (auto *rmw = dyn_cast<AtomicRMWInst>(inst)) {
      Value *pointer = rmw->getPointerOperand();
      // NVPTX drops the ordering of atomicrmw (it gives a relaxed atom), so the
      // race detector must not count on it either.
      AccessInfo info = getInfo(pointer, AccessKind::update, rmw->getAlign());
      info.ordering = Ordering::relaxed;
      info.scope = getScope(context, rmw->getSyncScopeID());
      check(pointer, rmw->getType(), info);
    } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(inst)) {
      Value *pointer = exchange->getPointerOperand();
      AccessInfo info =
          getInfo(pointer, AccessKind::update, exchange->getAlign());
      info.ordering = getOrdering(exchange->getMergedOrdering());
      info.scope = getScope(context, exchange->getSyncScopeID());
      check(pointer, exchange->getNewValOperand()->getType(), info);
    } else if (auto *fence = dyn_cast<FenceInst>(inst)) {
      lowering.fence(getOrdering(fence->getOrdering()),
                     getScope(context, fence->getSyncScopeID()));
      fence->eraseFromParent();
    } else if (auto *copy = dyn_cast<MemTransferInst>(inst)) {
      range(copy->getRawSource(), copy->getLength(), AccessKind::read,
            copy->getSourceAlign().valueOrOne());
      range(copy->getRawDest(), copy->getLength(), AccessKind::write,
            copy->getDestAlign().valueOrOne());
    } else if (auto *set = dyn_cast<MemSetInst>(inst)) {
      range(set->getRawDest(), set->getLength(), AccessKind::write,
            set->getDestAlign().valueOrOne());
    } else if (auto *intrinsic = dyn_cast<IntrinsicInst>(inst)) {
      return visitIntrinsic(intrinsic);
    } else if (inst->isIntDivRem()) {
      checkDivision(inst);
    }
    return Error::success();
  }

  /// A GPU gives some number for what would kill the host.
  void checkDivision(Instruction *inst) {
    IRBuilder<> &builder = lowering.builder;
    Value *dividend = inst->getOperand(0), *divisor = inst->getOperand(1);
    Type *type = divisor->getType();
    if (const auto *constant = dyn_cast<ConstantInt>(divisor);
        constant && !constant->isZero() && !constant->isMinusOne())
      return;
    Value *wrong = builder.CreateICmpEQ(divisor, Constant::getNullValue(type));
    if (inst->getOpcode() == Instruction::SDiv ||
        inst->getOpcode() == Instruction::SRem) {
      Value *least = ConstantInt::get(
          type, APInt::getSignedMinValue(type->getScalarSizeInBits()));
      wrong = builder.CreateOr(
          wrong, builder.CreateAnd(
                     builder.CreateICmpEQ(divisor,
                                          Constant::getAllOnesValue(type)),
                     builder.CreateICmpEQ(dividend, least)));
    }
    // The host's instruction may be scheduled before the call.
    inst->setOperand(
        1, builder.CreateSelect(wrong, ConstantInt::get(type, 1), divisor));
    if (type->isVectorTy())
      wrong = builder.CreateOrReduce(wrong);
    lowering.call("nf_emu_division", builder.getVoidTy(),
                  {builder.CreateZExt(wrong, builder.getInt32Ty())});
  }

  void range(Value *pointer, Value *length, AccessKind kind, Align alignment) {
    const auto *known = dyn_cast<ConstantInt>(length);
    if (known && isPrivateOrConstant(pointer, known->getZExtValue(), layout))
      return;
    lowering.access(pointer,
                    lowering.builder.CreateZExtOrTrunc(
                        length, lowering.builder.getInt64Ty()),
                    getInfo(pointer, kind, alignment));
  }

  Error visitIntrinsic(IntrinsicInst *inst) {
    switch (inst->getIntrinsicID()) {
    case Intrinsic::masked_load:
      masked(inst->getArgOperand(0), inst->getType(), inst->getArgOperand(1),
             inst->getParamAlign(0).valueOrOne(), AccessKind::read);
      break;
    case Intrinsic::masked_store:
      masked(inst->getArgOperand(1), inst->getArgOperand(0)->getType(),
             inst->getArgOperand(2), inst->getParamAlign(1).valueOrOne(),
             AccessKind::write);
      break;
    case Intrinsic::masked_gather:
    case Intrinsic::masked_scatter:
    case Intrinsic::masked_expandload:
    case Intrinsic::masked_compressstore:
    case Intrinsic::vp_load:
    case Intrinsic::vp_store:
      return createStringError("the emulator doesn't know " +
                               inst->getCalledFunction()->getName());
    case Intrinsic::trap:
    case Intrinsic::ubsantrap:
    case Intrinsic::debugtrap:
      lowering.call("nf_emu_trap", lowering.builder.getVoidTy(), {});
      inst->eraseFromParent();
      break;
    default:
      break;
    }
    return Error::success();
  }

  /// Checks the lanes of a masked access whose bit is set.
  void masked(Value *pointer, Type *type, Value *mask, Align alignment,
              AccessKind kind) {
    if (isPrivateOrConstant(pointer, layout.getTypeStoreSize(type), layout))
      return;
    IRBuilder<> &builder = lowering.builder;
    auto *vector = cast<FixedVectorType>(type);
    unsigned lanes = vector->getNumElements();
    uint64_t bytes = layout.getTypeStoreSize(vector->getElementType());
    AccessInfo info =
        getInfo(pointer, kind, commonAlignment(alignment, bytes * lanes));
    for (unsigned first = 0; first < lanes; first += 64) {
      unsigned count = std::min(lanes - first, 64u);
      SmallVector<int> picked;
      for (unsigned lane = first; lane < first + count; ++lane)
        picked.push_back(lane);
      Value *bits = builder.CreateBitCast(
          builder.CreateShuffleVector(mask, picked), builder.getIntNTy(count));
      lowering.call(
          "nf_emu_masked_access", builder.getVoidTy(),
          {builder.CreateConstGEP1_64(builder.getInt8Ty(),
                                      lowering.pointer(pointer), first * bytes),
           builder.getInt64(bytes),
           builder.CreateZExt(bits, builder.getInt64Ty()),
           lowering.constant(info.pack())},
          Effects::access);
    }
  }

  Lowering &lowering;
  const DataLayout &layout;
};

//===----------------------------------------------------------------------===//
// Shared variables, kernels, globals
//===----------------------------------------------------------------------===//

/// Where the shared variables of a module lie.
struct SharedLayout {
  uint64_t staticBytes = 0;
  uint64_t dynamicOffset = 0;
};

/// Replaces variables in address space 3 by offsets into shared memory.
SharedLayout lowerSharedVariables(Lowering &lowering) {
  Module &module = lowering.module;
  const DataLayout &layout = module.getDataLayout();
  SharedLayout result;
  Align dynamicAlign(16);
  SmallVector<GlobalVariable *> fixed, dynamic;
  for (GlobalVariable &global : module.globals()) {
    if (global.getAddressSpace() != 3)
      continue;
    bool empty = layout.getTypeAllocSize(global.getValueType()) == 0;
    (empty ? dynamic : fixed).push_back(&global);
    if (empty)
      dynamicAlign = std::max(dynamicAlign, global.getAlign().valueOrOne());
  }
  SmallVector<Constant *> constants(fixed.begin(), fixed.end());
  constants.append(dynamic.begin(), dynamic.end());
  convertUsersOfConstantsToInstructions(constants);

  // In the order of the module: the same module gives the same bytes.
  MapVector<GlobalVariable *, uint64_t> offsets;
  for (GlobalVariable *global : fixed) {
    Align align = global->getAlign().value_or(layout.getPreferredAlign(global));
    result.staticBytes = alignTo(result.staticBytes, align);
    offsets[global] = result.staticBytes;
    result.staticBytes += layout.getTypeAllocSize(global->getValueType());
  }
  result.dynamicOffset = alignTo(result.staticBytes, dynamicAlign);
  for (GlobalVariable *global : dynamic)
    offsets[global] = result.dynamicOffset;

  IRBuilder<> &builder = lowering.builder;
  for (auto [global, offset] : offsets) {
    for (Use &use : make_early_inc_range(global->uses())) {
      auto *user = dyn_cast<Instruction>(use.getUser());
      if (!user)
        continue; // llvm.used and the like; goes with the variable
      auto *phi = dyn_cast<PHINode>(user);
      builder.SetInsertPoint(phi ? phi->getIncomingBlock(use)->getTerminator()
                                 : user);
      Value *base =
          lowering.call("nf_emu_shared", builder.getPtrTy(), {}, Effects::none);
      use.set(builder.CreateAddrSpaceCast(
          builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset),
          global->getType()));
    }
  }
  for (auto [global, offset] : offsets) {
    global->replaceAllUsesWith(PoisonValue::get(global->getType()));
    global->eraseFromParent();
  }
  return result;
}

/// The numbers of a function attribute like "nvvm.reqntid"="128,1,1".
void getNumbers(Function &function, StringRef name,
                MutableArrayRef<uint32_t> numbers) {
  SmallVector<StringRef> parts;
  function.getFnAttribute(name).getValueAsString().split(parts, ',');
  for (auto [number, part] : llvm::zip(numbers, parts))
    if (part.trim().getAsInteger(10, number))
      number = 0;
}

/// Renames the kernel and gives its name to a function that unpacks arguments.
void createTrampoline(Lowering &lowering, Function &kernel,
                      const SharedLayout &shared) {
  Module &module = lowering.module;
  LLVMContext &context = module.getContext();
  IRBuilder<> &builder = lowering.builder;
  const DataLayout &layout = module.getDataLayout();
  std::string name = kernel.getName().str();
  kernel.setName(name + ".body");
  kernel.setLinkage(GlobalValue::InternalLinkage);
  kernel.setCallingConv(CallingConv::C);

  auto *entry = Function::Create(
      FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false),
      GlobalValue::ExternalLinkage, name, module);
  builder.SetInsertPoint(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> values;
  SmallVector<uint32_t> sizes;
  for (Argument &argument : kernel.args()) {
    Value *slot = builder.CreateConstGEP1_64(builder.getPtrTy(),
                                             entry->getArg(0), sizes.size());
    Value *address = builder.CreateLoad(builder.getPtrTy(), slot);
    if (argument.hasByValAttr()) {
      sizes.push_back(layout.getTypeAllocSize(argument.getParamByValType()));
      argument.removeAttr(Attribute::ByVal);
      values.push_back(address);
      continue;
    }
    sizes.push_back(layout.getTypeStoreSize(argument.getType()));
    values.push_back(
        builder.CreateAlignedLoad(argument.getType(), address, Align(1)));
  }
  builder.CreateCall(&kernel, values);
  builder.CreateRetVoid();

  KernelRecord record = {};
  record.version = abiVersion;
  record.staticShared = shared.staticBytes;
  record.dynamicShared = shared.dynamicOffset;
  getNumbers(kernel, "nvvm.reqntid", record.requiredThreads);
  uint32_t limit[3] = {0, 1, 1};
  getNumbers(kernel, "nvvm.maxntid", limit);
  record.maxThreads = limit[0] * limit[1] * limit[2];
  if (uint32_t *required = record.requiredThreads; required[0]) {
    required[1] = std::max(required[1], 1u);
    required[2] = std::max(required[2], 1u);
  }
  getNumbers(kernel, "nvvm.cluster_dim", record.cluster);
  if (uint32_t *cluster = record.cluster; cluster[0]) {
    cluster[1] = std::max(cluster[1], 1u);
    cluster[2] = std::max(cluster[2], 1u);
  }
  record.arguments = sizes.size();
  SmallVector<uint32_t> words(sizeof(record) / 4);
  memcpy(words.data(), &record, sizeof(record));
  words.append(sizes.begin(), sizes.end());
  auto *data = ConstantDataArray::get(context, words);
  new GlobalVariable(module, data->getType(), /*isConstant=*/true,
                     GlobalValue::ExternalLinkage, data, name + ".info");
}

/// Lists the module's variables for the bounds check.
void createModuleRecord(Lowering &lowering) {
  Module &module = lowering.module;
  LLVMContext &context = module.getContext();
  const DataLayout &layout = module.getDataLayout();
  Type *word = Type::getInt64Ty(context),
       *pointer = PointerType::get(context, 0);
  SmallVector<Constant *> fields;
  for (GlobalVariable &global : module.globals()) {
    if (global.isDeclaration() || global.getName().starts_with("llvm.") ||
        global.getName().ends_with(".info"))
      continue;
    fields.push_back(
        ConstantExpr::getPointerBitCastOrAddrSpaceCast(&global, pointer));
    fields.push_back(
        ConstantInt::get(word, layout.getTypeAllocSize(global.getValueType())));
  }
  fields.insert(fields.begin(), ConstantInt::get(word, fields.size() / 2));
  auto *record = ConstantStruct::getAnon(fields);
  new GlobalVariable(module, record->getType(), /*isConstant=*/false,
                     GlobalValue::ExternalLinkage, record, "nf_emu_module");
}

/// Has the emulator see every turn of a loop in which not each makes an access
/// that it sees, so that one that never ends is noticed.
void watchLoops(Lowering &lowering, Function &function) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  auto isSeen = [](Instruction &inst) {
    auto *call = dyn_cast<CallInst>(&inst);
    Function *callee = call ? call->getCalledFunction() : nullptr;
    return callee && (callee->getName() == "nf_emu_access" ||
                      callee->getName() == "nf_emu_atomic_access");
  };
  for (Loop *loop : loops.getLoopsInPreorder()) {
    SmallVector<BasicBlock *> latches;
    loop->getLoopLatches(latches);
    if (any_of(loop->blocks(), [&](BasicBlock *block) {
          return any_of(*block, isSeen) &&
                 all_of(latches, [&](BasicBlock *latch) {
                   return dominators.dominates(block, latch);
                 });
        }))
      continue;
    lowering.builder.SetInsertPoint(loop->getHeader()->getFirstInsertionPt());
    lowering.call("nf_emu_turn", lowering.builder.getVoidTy(), {});
  }
}

/// A thread's stack holds its arrays.
Error checkArrays(Function &function) {
  const DataLayout &layout = function.getParent()->getDataLayout();
  uint64_t bytes = 0;
  for (Instruction &inst : instructions(function)) {
    auto *array = dyn_cast<AllocaInst>(&inst);
    if (!array)
      continue;
    std::optional<TypeSize> size = array->getAllocationSize(layout);
    if (!size || !array->isStaticAlloca())
      return createStringError("the emulator doesn't know arrays that a "
                               "kernel makes as it runs, as '" +
                               function.getName() + "' does");
    bytes = SaturatingAdd(bytes, size->getFixedValue());
  }
  if (bytes > maxLocalBytes)
    return createStringError("'" + function.getName() + "' has arrays of " +
                             Twine(bytes) + " bytes a thread, at most " +
                             Twine(maxLocalBytes) + " fit on the emulator");
  return Error::success();
}

/// Names of functions that the emulator or the host's C library defines.
bool isHostFunction(StringRef name) {
  return name.starts_with("nf_emu_") || name.starts_with("llvm.");
}

} // namespace

Error emulator::lowerDeviceModule(Module &module) {
  Lowering lowering(module);
  for (StringRef name : {"llvm.used", "llvm.compiler.used"})
    if (GlobalVariable *used = module.getNamedGlobal(name))
      used->eraseFromParent();
  if (NamedMDNode *annotations = module.getNamedMetadata("nvvm.annotations"))
    module.eraseNamedMetadata(annotations);

  for (Function &function : module) {
    if (!function.isDeclaration() || function.isIntrinsic())
      continue;
    if (StringRef host = getHostMathFunction(function.getName());
        !host.empty()) {
      function.setName(host);
      function.setCallingConv(CallingConv::C);
      for (User *user : function.users())
        if (auto *call = dyn_cast<CallInst>(user))
          call->setCallingConv(CallingConv::C);
    } else if (!function.use_empty()) {
      return createStringError("the emulator doesn't know the function '" +
                               function.getName() + "'");
    }
  }
  // Externally initialised or undefined variables have no memory here.
  for (GlobalVariable &global : module.globals())
    if (global.isDeclaration() && global.getAddressSpace() != 3 &&
        !global.use_empty())
      return createStringError("the emulator doesn't know the variable '" +
                               global.getName() + "'");

  SharedLayout shared = lowerSharedVariables(lowering);

  SmallVector<Function *> functions;
  for (Function &function : module)
    if (!function.isDeclaration())
      functions.push_back(&function);
  for (Function *function : functions) {
    for (StringRef attribute : {"target-cpu", "target-features"})
      function->removeFnAttr(attribute);
    function->removeFnAttr(Attribute::Convergent);
    if (Error error = checkArrays(*function))
      return error;
    // Accesses first: the checks must not be checked themselves.
    if (Error error = Instrumenter(lowering).run(*function))
      return error;
    SmallVector<CallInst *> calls;
    for (Instruction &inst : instructions(*function))
      if (auto *call = dyn_cast<CallInst>(&inst))
        calls.push_back(call);
    for (CallInst *call : calls) {
      call->setCallingConv(CallingConv::C);
      if (call->isInlineAsm()) {
        if (Error error = lowerInlineAsm(lowering, call))
          return error;
        continue;
      }
      Function *callee = call->getCalledFunction();
      if (!callee)
        return createStringError("the emulator doesn't know indirect calls");
      if (callee->getName().starts_with("llvm.nvvm."))
        if (Error error = lowerIntrinsic(lowering, call))
          return error;
    }
    watchLoops(lowering, *function);
  }
  for (Function &function : make_early_inc_range(module))
    if (function.isDeclaration() && function.use_empty() &&
        !isHostFunction(function.getName()))
      function.eraseFromParent();
  for (Function *function : functions) {
    if (function->getCallingConv() == CallingConv::PTX_Kernel)
      createTrampoline(lowering, *function, shared);
    else if (function->getCallingConv() == CallingConv::PTX_Device)
      function->setCallingConv(CallingConv::C);
  }
  createModuleRecord(lowering);
  return Error::success();
}
