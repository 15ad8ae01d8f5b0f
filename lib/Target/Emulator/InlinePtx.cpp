//===- InlinePtx.cpp - Inline PTX as calls of the emulator ----------------===//
//
// A kernel may hold instructions that have no NVVM op, as inline PTX. This file
// reads that text and makes LLVM IR of it, through a closed table of
// instructions at its end: to add one, add a line there and a handler. An
// instruction or modifier that isn't known is an error with its text.
//
// Registers that the text declares, and outputs, are stack slots; labels and
// branches are basic blocks. The optimizer cleans up.
//
//===----------------------------------------------------------------------===//

#include "InlinePtx.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::emulator;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

SmallVector<std::string> emulator::splitOperands(StringRef text) {
  SmallVector<std::string> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '{' || text[i] == '['))
      ++depth;
    else if (i < text.size() && (text[i] == '}' || text[i] == ']'))
      --depth;
    else if (i == text.size() || (text[i] == ',' && depth == 0)) {
      StringRef part = text.slice(start, i).trim();
      if (!part.empty())
        parts.push_back(part.str());
      start = i + 1;
    }
  }
  return parts;
}

static bool isName(StringRef text) {
  return !text.empty() && !isDigit(text[0]) && llvm::all_of(text, [](char c) {
    return isAlnum(c) || c == '_' || c == '$' || c == '%';
  });
}

/// The statements of `text`; braces of blocks and comments are dropped.
static Expected<SmallVector<Statement>> parse(StringRef text) {
  std::string clean;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("//")) {
      while (i < text.size() && text[i] != '\n')
        ++i;
    } else if (text.substr(i).starts_with("/*")) {
      i = std::min(text.find("*/", i), text.size());
      ++i;
      continue;
    } else if (text.substr(i).starts_with("$$")) {
      clean += '$';
      ++i;
      continue;
    }
    if (i < text.size())
      clean += isSpace(text[i]) ? ' ' : text[i];
  }
  SmallVector<Statement> statements;
  StringRef rest = StringRef(clean).trim();
  std::string label;
  while (!rest.empty()) {
    if (rest[0] == '{' || rest[0] == '}' || rest[0] == ';') {
      rest = rest.drop_front().ltrim();
      continue;
    }
    size_t colon = rest.find(':');
    if (colon != StringRef::npos && isName(rest.take_front(colon).trim()) &&
        !rest.substr(colon).starts_with("::")) {
      if (!label.empty()) // two labels at one place
        statements.emplace_back().label = label;
      label = rest.take_front(colon).trim().str();
      rest = rest.drop_front(colon + 1).ltrim();
      continue;
    }
    size_t end = rest.find(';');
    if (end == StringRef::npos)
      return createStringError("the emulator can't read the inline PTX '" +
                               rest + "': no ';'");
    StringRef one = rest.take_front(end).trim();
    rest = rest.drop_front(end + 1).ltrim();
    Statement statement;
    statement.text = one.str();
    statement.label = std::move(label);
    label.clear();
    if (one.consume_front("@")) {
      statement.negated = one.consume_front("!");
      auto [guard, after] = one.split(' ');
      statement.guard = guard.str();
      one = after.ltrim();
    }
    auto [head, operands] = one.split(' ');
    SmallVector<StringRef> pieces;
    head.split(pieces, '.');
    if (pieces[0].empty()) { // a directive: .reg
      statement.opcode = ".";
      pieces.erase(pieces.begin());
      for (StringRef word : llvm::split(operands.ltrim(), ' '))
        if (word.starts_with("."))
          pieces.push_back(word.drop_front());
      if (operands.contains('.'))
        operands = operands.ltrim().drop_until([](char c) { return c == ' '; });
    } else {
      statement.opcode = pieces[0].str();
      pieces.erase(pieces.begin());
    }
    for (StringRef piece : pieces)
      statement.modifiers.push_back(piece.str());
    statement.operands = splitOperands(operands);
    statements.push_back(std::move(statement));
  }
  if (!label.empty())
    statements.emplace_back().label = label;
  return statements;
}

constexpr const char *accessModifiers =
    "weak relaxed acquire release acq_rel volatile gpu cta cluster sys global "
    "shared shared::cta shared::cluster ca cg cs lu cv wb wt nc "
    "L1::no_allocate L1::evict_normal L1::evict_unchanged L1::evict_first "
    "L1::evict_last L2::evict_first L2::evict_last L2::evict_normal "
    "L2::cache_hint L2::64B L2::128B L2::256B v2 v4 v8 "
    "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64";

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

constexpr const char *numberTypes =
    "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f16x2 bf16x2 f32 f64 rn ftz "
    "lo NaN approx";

static const std::pair<
    const char *, std::pair<const char *, bool (Decoder::*)(const Statement &)>>
    table[] = {
        {"ld", {accessModifiers, &Decoder::load}},
        {"st", {accessModifiers, &Decoder::store}},
        {"st",
         {"async weak mbarrier::complete_tx::bytes shared::cluster b32 "
          "b64 u32 u64 s32 s64 f32 f64 v2 v4",
          &Decoder::store}},
        {"atom",
         {"relaxed acquire release acq_rel gpu cta cluster sys global "
          "shared shared::cta shared::cluster add and or xor exch cas "
          "inc dec min max noftz b32 b64 u32 u64 s32 s64 f32 f64 "
          "bf16x2 f16x2",
          &Decoder::atomic}},
        {"red",
         {"relaxed release gpu cta cluster sys global shared "
          "shared::cta shared::cluster add and or xor inc dec min max "
          "noftz b32 b64 u32 u64 s32 s64 f32 f64 bf16x2 f16x2",
          &Decoder::atomic}},
        {"fence",
         {"sc acq_rel acquire release gpu cta cluster sys "
          "mbarrier_init proxy async alias global shared::cta "
          "shared::cluster async::generic",
          &Decoder::fence}},
        {"membar", {"cta gl sys", &Decoder::fence}},
        {"mov",
         {"pred b16 b32 b64 b128 u16 u32 u64 s16 s32 s64 f32 f64",
          &Decoder::move}},
        {"add", {numberTypes, &Decoder::arithmetic}},
        {"sub", {numberTypes, &Decoder::arithmetic}},
        {"mul", {numberTypes, &Decoder::arithmetic}},
        {"fma", {numberTypes, &Decoder::arithmetic}},
        {"min", {numberTypes, &Decoder::arithmetic}},
        {"max", {numberTypes, &Decoder::arithmetic}},
        {"and", {"b16 b32 b64 pred", &Decoder::arithmetic}},
        {"or", {"b16 b32 b64 pred", &Decoder::arithmetic}},
        {"xor", {"b16 b32 b64 pred", &Decoder::arithmetic}},
        {"shl", {"b16 b32 b64", &Decoder::arithmetic}},
        {"shr", {"b16 b32 b64 u16 u32 u64 s16 s32 s64", &Decoder::arithmetic}},
        {"setp",
         {"eq ne lt le gt ge b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 "
          "f64",
          &Decoder::compare}},
        {"selp",
         {"b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", &Decoder::select}},
        {"cvt",
         {"rn satfinite relu f32 f16 bf16 f16x2 bf16x2 e4m3x2 e5m2x2",
          &Decoder::convert}},
        {"rsqrt", {"approx ftz f32 f64", &Decoder::unaryMath}},
        {"rcp", {"approx rn ftz f32 f64", &Decoder::unaryMath}},
        {"sqrt", {"approx rn ftz f32 f64", &Decoder::unaryMath}},
        {"ex2", {"approx ftz f32", &Decoder::unaryMath}},
        {"lg2", {"approx ftz f32", &Decoder::unaryMath}},
        {"tanh", {"approx f32", &Decoder::unaryMath}},
        {"abs", {"ftz f32 f64", &Decoder::unaryMath}},
        {"neg", {"ftz f32 f64", &Decoder::unaryMath}},
        {"prmt", {"b32", &Decoder::permute}},
        {"bar", {"sync arrive cta warp aligned", &Decoder::barrier}},
        {"barrier",
         {"sync arrive cta cluster wait aligned relaxed release "
          "acquire",
          &Decoder::barrier}},
        {"mbarrier",
         {"init inval arrive arrive_drop expect_tx complete_tx "
          "try_wait test_wait parity shared shared::cta "
          "shared::cluster b64 relaxed release acquire cta cluster "
          "noComplete",
          &Decoder::mbarrier}},
        {"cp",
         {"async bulk ca cg shared shared::cta shared::cluster global "
          "commit_group wait_group wait_all read mbarrier arrive noinc "
          "b64 mbarrier::complete_tx::bytes bulk_group "
          "multicast::cluster L2::cache_hint L2::64B L2::128B L2::256B "
          "prefetch L2",
          &Decoder::copyAsync}},
        {"ldmatrix",
         {"sync aligned m8n8 x1 x2 x4 trans shared shared::cta b16",
          &Decoder::ldmatrix}},
        {"mapa", {"shared::cluster u32 u64", &Decoder::mapAddress}},
        {"createpolicy",
         {"fractional range L2::evict_first L2::evict_last "
          "L2::evict_normal L2::evict_unchanged b64",
          &Decoder::createPolicy}},
        {"prefetch",
         {"global L1 L2 L2::evict_last L2::evict_normal", &Decoder::ignore}},
        {"discard", {"global L2", &Decoder::ignore}},
        {"applypriority", {"global L2::evict_normal", &Decoder::ignore}},
        {"nanosleep", {"u32", &Decoder::ignore}},
        {"griddepcontrol",
         {"wait launch_dependents", &Decoder::gridDependency}},
        {"exit", {"", &Decoder::exit}},
        {"ret", {"", &Decoder::exit}},
        {"bra", {"uni", nullptr}},
};

/// Null if the table doesn't have the statement.
static auto *findEntry(const Statement &statement) {
  for (const auto &entry : table) {
    if (statement.opcode != entry.first)
      continue;
    SmallVector<StringRef> allowed;
    StringRef(entry.second.first).split(allowed, ' ');
    if (llvm::all_of(statement.modifiers, [&](StringRef modifier) {
          return llvm::is_contained(allowed, modifier);
        }))
      return &entry.second;
  }
  return static_cast<decltype(&table[0].second)>(nullptr);
}

static Error checkStatement(const Statement &statement) {
  if (statement.opcode.empty())
    return Error::success();
  if (statement.opcode == ".") {
    if (statement.modifiers.size() == 2 && statement.modifiers[0] == "reg")
      return Error::success();
  } else if (findEntry(statement)) {
    return Error::success();
  }
  return createStringError("the emulator doesn't know the inline PTX '" +
                           statement.text + "'");
}

Error emulator::checkInlinePtx(StringRef text) {
  Expected<SmallVector<Statement>> statements = parse(text);
  if (!statements)
    return statements.takeError();
  for (const Statement &statement : *statements)
    if (Error error = checkStatement(statement))
      return error;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// One call
//===----------------------------------------------------------------------===//

Error Decoder::run() {
  auto *assembly = cast<InlineAsm>(callInst->getCalledOperand());
  Expected<SmallVector<Statement>> statements = parse(assembly->getAsmString());
  if (!statements)
    return statements.takeError();

  // Operands: outputs first, then inputs; a tied input starts its output.
  Type *result = callInst->getType();
  SmallVector<Type *> results;
  if (auto *structType = dyn_cast<StructType>(result))
    results.assign(structType->element_begin(), structType->element_end());
  else if (!result->isVoidTy())
    results.push_back(result);
  builder.SetInsertPoint(callInst);
  unsigned number = 0, argument = 0, output = 0;
  for (const InlineAsm::ConstraintInfo &info : assembly->ParseConstraints()) {
    if (info.Type == InlineAsm::isClobber)
      continue;
    if (info.isIndirect || info.Type == InlineAsm::isLabel)
      return createStringError("the emulator doesn't know the constraints of "
                               "the inline PTX '" +
                               assembly->getAsmString() + "'");
    Slot slot;
    if (info.Type == InlineAsm::isOutput) {
      slot.type = results[output++];
      slot.memory = createSlot(slot.type);
    } else {
      slot.value = callInst->getArgOperand(argument++);
      slot.type = slot.value->getType();
      unsigned tied;
      if (!info.Codes.empty() &&
          !StringRef(info.Codes[0]).getAsInteger(10, tied))
        builder.CreateStore(slot.value,
                            slots["$" + std::to_string(tied)].memory);
    }
    slots["$" + std::to_string(number)] = slot;
    // "${0:r}" isn't written by anything we know.
    ++number;
  }

  // One block a label, a guard and a branch.
  bool branches = llvm::any_of(*statements, [](const Statement &statement) {
    return !statement.label.empty() || !statement.guard.empty();
  });
  BasicBlock *end = nullptr;
  StringMap<BasicBlock *> labels;
  Function *function = callInst->getFunction();
  LLVMContext &context = builder.getContext();
  if (branches) {
    end = SplitBlock(callInst->getParent(), callInst);
    for (const Statement &statement : *statements)
      if (!statement.label.empty())
        labels[statement.label] =
            BasicBlock::Create(context, "", function, end);
    BasicBlock *start = end->getSinglePredecessor();
    start->getTerminator()->eraseFromParent();
    builder.SetInsertPoint(start);
  }
  auto newBlock = [&] {
    return BasicBlock::Create(context, "", function, end);
  };
  for (const Statement &statement : *statements) {
    auto fail = [&] {
      return createStringError("the emulator doesn't know the operands of the "
                               "inline PTX '" +
                               statement.text + "'");
    };
    if (Error error = checkStatement(statement))
      return error;
    if (!statement.label.empty()) {
      builder.CreateBr(labels[statement.label]);
      builder.SetInsertPoint(labels[statement.label]);
    }
    if (statement.opcode.empty())
      continue;
    if (statement.opcode == ".") {
      Type *type = typeOf(context, statement.modifiers[1]);
      if (!type)
        return fail();
      for (StringRef name : statement.operands)
        slots[name] = Slot{createSlot(type), nullptr, type};
      continue;
    }
    BasicBlock *after = nullptr;
    if (!statement.guard.empty()) {
      Value *guard = readPredicate(statement.guard, statement.negated);
      if (!guard)
        return fail();
      BasicBlock *then = newBlock();
      after = newBlock();
      builder.CreateCondBr(guard, then, after);
      builder.SetInsertPoint(then);
    }
    if (statement.opcode == "bra") {
      BasicBlock *target = statement.operands.size() == 1
                               ? labels.lookup(statement.operands[0])
                               : nullptr;
      if (!target)
        return fail();
      builder.CreateBr(target);
      builder.SetInsertPoint(after ? after : newBlock());
      continue;
    }
    if (!(this->*findEntry(statement)->second)(statement))
      return fail();
    if (after) {
      builder.CreateBr(after);
      builder.SetInsertPoint(after);
    }
  }
  if (end) {
    builder.CreateBr(end);
    builder.SetInsertPoint(callInst);
  }

  if (!results.empty()) {
    Value *value = nullptr;
    if (isa<StructType>(result)) {
      value = PoisonValue::get(result);
      for (auto [i, type] : llvm::enumerate(results))
        value = builder.CreateInsertValue(
            value,
            builder.CreateLoad(type, slots["$" + std::to_string(i)].memory), i);
    } else {
      value = builder.CreateLoad(result, slots["$0"].memory);
    }
    callInst->replaceAllUsesWith(value);
  }
  callInst->eraseFromParent();
  return Error::success();
}

Error emulator::lowerInlineAsm(Lowering &lowering, CallInst *call) {
  return Decoder(lowering, call).run();
}
