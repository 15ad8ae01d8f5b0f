//===- Intrinsics.cpp - NVVM intrinsics as calls of the emulator ----------===//
//
// The closed table of `llvm.nvvm.*` intrinsics, which is what NVVM ops become:
// registers, warps, barriers, copies; arithmetic is in IntrinsicsMath.cpp. To
// add one, add a line: the name and what to replace a call with.
//
//===----------------------------------------------------------------------===//

#include "Intrinsics.h"

using namespace llvm;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::emulator;

Value *emulator::toI32(Lowering &l, Value *value) {
  if (value->getType()->isFloatTy())
    return l.builder.CreateBitCast(value, i32(l));
  return l.builder.CreateZExtOrTrunc(value, i32(l));
}
Value *emulator::fromI32(Lowering &l, Value *value, Type *type) {
  if (type->isFloatTy())
    return l.builder.CreateBitCast(value, type);
  if (type->isIntegerTy(1))
    return l.builder.CreateICmpNE(value, l.constant(0));
  return l.builder.CreateZExtOrTrunc(value, type);
}

Handler emulator::plain(const char *name) {
  return [name](Lowering &l, CallInst *call) -> Value * {
    SmallVector<Value *> arguments;
    for (Value *argument : call->args())
      arguments.push_back(
          argument->getType()->isIntegerTy(1) ? toI32(l, argument) : argument);
    Type *type = call->getType();
    Value *value =
        l.call(name, type->isIntegerTy(1) ? i32(l) : type, arguments);
    return type->isIntegerTy(1) ? fromI32(l, value, type) : value;
  };
}

namespace {

/// The low word of a 64-bit result is the value, the high one the predicate;
/// as the type that the intrinsic gives.
Value *valueAndPredicate(Lowering &l, Value *both, Type *type) {
  Value *low = l.builder.CreateTrunc(both, i32(l));
  auto *structType = dyn_cast<StructType>(type);
  if (!structType)
    return fromI32(l, low, type);
  Value *high = l.builder.CreateTrunc(l.builder.CreateLShr(both, uint64_t(32)),
                                      l.builder.getInt1Ty());
  Value *result = PoisonValue::get(type);
  result = l.builder.CreateInsertValue(
      result, fromI32(l, low, structType->getElementType(0)), 0);
  return l.builder.CreateInsertValue(result, high, 1);
}

/// An instruction that orders nothing here, or is a hint.
Handler nothing() {
  return [](Lowering &, CallInst *) -> Value * { return nullptr; };
}
Handler reg(Register which) {
  return [which](Lowering &l, CallInst *) { return l.readRegister(which); };
}
Handler shuffle(ShuffleKind kind) {
  return [kind](Lowering &l, CallInst *call) {
    Value *both = l.call("nf_emu_shuffle", i64(l),
                         {l.number(kind), arg(call, 0), toI32(l, arg(call, 1)),
                          arg(call, 2), arg(call, 3)});
    return valueAndPredicate(l, both, call->getType());
  };
}
Handler vote(VoteKind kind) {
  return [kind](Lowering &l, CallInst *call) {
    Value *value =
        l.call("nf_emu_vote", i32(l),
               {l.number(kind), arg(call, 0), toI32(l, arg(call, 1))});
    return fromI32(l, value, call->getType());
  };
}
Handler reduce(ReduceKind kind) {
  return [kind](Lowering &l, CallInst *call) {
    Value *value =
        l.call("nf_emu_reduce", i32(l),
               {l.number(kind), arg(call, 1), toI32(l, arg(call, 0))});
    return fromI32(l, value, call->getType());
  };
}
Handler match(bool all) {
  return [all](Lowering &l, CallInst *call) {
    Value *both = l.call("nf_emu_match", i64(l),
                         {l.constant(all), arg(call, 0),
                          l.builder.CreateZExtOrTrunc(arg(call, 1), i64(l))});
    return valueAndPredicate(l, both, call->getType());
  };
}
/// A named barrier; operand numbers of thread count and predicate, or -1.
Handler barrier(BarrierKind kind, int count, int predicate = -1) {
  return [=](Lowering &l, CallInst *call) {
    Value *value = l.call(
        "nf_emu_barrier", i32(l),
        {l.number(kind), arg(call, 0),
         count < 0 ? l.constant(0) : arg(call, count),
         predicate < 0 ? l.constant(0) : toI32(l, arg(call, predicate))});
    return call->getType()->isVoidTy() ? nullptr
                                       : fromI32(l, value, call->getType());
  };
}
Handler fence(Ordering ordering, Scope scope) {
  return [=](Lowering &l, CallInst *) -> Value * {
    l.fence(ordering, scope);
    return nullptr;
  };
}
Handler clusterArrive(bool relaxed) {
  return [relaxed](Lowering &l, CallInst *) -> Value * {
    l.call("nf_emu_cluster_arrive", none(l), {l.constant(relaxed)});
    return nullptr;
  };
}
/// cp.async of `bytes`; with a size operand the rest is filled with zeros.
Handler copyAsync(unsigned bytes, bool sized) {
  return [=](Lowering &l, CallInst *call) -> Value * {
    l.call("nf_emu_cp_async", none(l),
           {arg(call, 0), arg(call, 1), l.constant(bytes),
            sized ? toI32(l, arg(call, 2)) : l.constant(bytes)});
    return nullptr;
  };
}

//===----------------------------------------------------------------------===//
// Synchronisation and copies
//===----------------------------------------------------------------------===//

void addRegisters(StringMap<Handler> &table) {
  const std::pair<const char *, Register> registers[] = {
      {"tid", Register::tidX},
      {"ntid", Register::ntidX},
      {"ctaid", Register::ctaidX},
      {"nctaid", Register::nctaidX},
      {"clusterid", Register::clusteridX},
      {"nclusterid", Register::nclusteridX},
      {"cluster.ctaid", Register::clusterCtaidX},
      {"cluster.nctaid", Register::clusterNctaidX}};
  const std::string prefix = "read.ptx.sreg.";
  for (auto [name, first] : registers)
    for (unsigned axis = 0; axis < 3; ++axis)
      table[prefix + name + "." + "xyz"[axis]] =
          reg(Register(unsigned(first) + axis));
  const std::pair<const char *, Register> scalars[] = {
      {"cluster.ctarank", Register::clusterCtarank},
      {"cluster.nctarank", Register::clusterNctarank},
      {"laneid", Register::laneid},
      {"warpid", Register::warpid},
      {"nwarpid", Register::nwarpid},
      {"warpsize", Register::warpsize},
      {"smid", Register::smid},
      {"nsmid", Register::nsmid},
      {"gridid", Register::gridid},
      {"lanemask.eq", Register::lanemaskEq},
      {"lanemask.le", Register::lanemaskLe},
      {"lanemask.lt", Register::lanemaskLt},
      {"lanemask.ge", Register::lanemaskGe},
      {"lanemask.gt", Register::lanemaskGt},
      {"total_smem_size", Register::totalSmemSize},
      {"dynamic_smem_size", Register::dynamicSmemSize},
      {"aggr_smem_size", Register::aggrSmemSize}};
  for (auto [name, which] : scalars)
    table[prefix + name] = reg(which);
  for (const char *name : {"clock", "clock64", "globaltimer", "globaltimer.lo"})
    table[prefix + name] = [](Lowering &l, CallInst *call) {
      return l.builder.CreateZExtOrTrunc(l.call("nf_emu_clock", i64(l), {}),
                                         call->getType());
    };
}

void addWarp(StringMap<Handler> &table) {
  const std::pair<const char *, ShuffleKind> shuffles[] = {
      {"up", ShuffleKind::up},
      {"down", ShuffleKind::down},
      {"bfly", ShuffleKind::butterfly},
      {"idx", ShuffleKind::index}};
  for (auto [name, kind] : shuffles)
    for (StringRef type : {"i32", "i32p", "f32", "f32p"})
      table[("shfl.sync." + Twine(name) + "." + type).str()] = shuffle(kind);
  table["vote.any.sync"] = vote(VoteKind::any);
  table["vote.all.sync"] = vote(VoteKind::all);
  table["vote.uni.sync"] = vote(VoteKind::uniform);
  table["vote.ballot.sync"] = vote(VoteKind::ballot);
  table["match.any.sync.i32"] = match(false);
  table["match.any.sync.i64"] = match(false);
  table["match.all.sync.i32p"] = match(true);
  table["match.all.sync.i64p"] = match(true);
  const std::pair<const char *, ReduceKind> reductions[] = {
      {"add", ReduceKind::add},
      {"and", ReduceKind::and_},
      {"or", ReduceKind::or_},
      {"xor", ReduceKind::xor_},
      {"min", ReduceKind::min},
      {"max", ReduceKind::max},
      {"umin", ReduceKind::umin},
      {"umax", ReduceKind::umax},
      {"fmin", ReduceKind::fmin},
      {"fmax", ReduceKind::fmax},
      {"fmin.NaN", ReduceKind::fminNaN},
      {"fmax.NaN", ReduceKind::fmaxNaN},
      {"fmin.abs", ReduceKind::fminAbs},
      {"fmax.abs", ReduceKind::fmaxAbs},
      {"fmin.abs.NaN", ReduceKind::fminAbsNaN},
      {"fmax.abs.NaN", ReduceKind::fmaxAbsNaN}};
  for (auto [name, kind] : reductions)
    table[("redux.sync." + Twine(name)).str()] = reduce(kind);
  table["elect.sync"] = [](Lowering &l, CallInst *call) {
    return valueAndPredicate(l, l.call("nf_emu_elect", i64(l), {arg(call, 0)}),
                             call->getType());
  };
  table["bar.warp.sync"] = plain("nf_emu_warp_sync");
  table["activemask"] = plain("nf_emu_activemask");
}

void addBarriers(StringMap<Handler> &table) {
  for (StringRef aligned : {".aligned", ""}) {
    auto add = [&](Twine name, Handler handler) {
      table[("barrier.cta." + name).str()] = std::move(handler);
    };
    add("sync" + aligned + ".all", barrier(BarrierKind::sync, -1));
    add("sync" + aligned + ".count", barrier(BarrierKind::sync, 1));
    add("arrive" + aligned + ".count", barrier(BarrierKind::arrive, 1));
    const std::pair<const char *, BarrierKind> kinds[] = {
        {"and", BarrierKind::reduceAnd},
        {"or", BarrierKind::reduceOr},
        {"popc", BarrierKind::reducePopc}};
    for (auto [name, kind] : kinds) {
      add("red." + Twine(name) + aligned + ".all", barrier(kind, -1, 1));
      add("red." + Twine(name) + aligned + ".count", barrier(kind, 1, 2));
    }
  }
  for (const char *aligned : {"", ".aligned"}) {
    table[std::string("barrier.cluster.arrive") + aligned] =
        clusterArrive(false);
    table[std::string("barrier.cluster.arrive.relaxed") + aligned] =
        clusterArrive(true);
    table[std::string("barrier.cluster.wait") + aligned] =
        plain("nf_emu_cluster_wait");
  }
  table["membar.cta"] = fence(Ordering::sequential, Scope::block);
  table["membar.gl"] = fence(Ordering::sequential, Scope::device);
  table["membar.sys"] = fence(Ordering::sequential, Scope::system);
  table["fence.sc.cluster"] = fence(Ordering::sequential, Scope::cluster);
  table["fence.mbarrier_init.release.cluster"] =
      plain("nf_emu_fence_mbarrier_init");
  for (const char *name :
       {"fence.proxy.alias", "fence.proxy.async", "fence.proxy.async.global",
        "fence.proxy.async.shared_cluster", "fence.proxy.async.shared_cta"})
    table[name] = plain("nf_emu_fence_proxy");
  table["griddepcontrol.wait"] = plain("nf_emu_griddep_wait");
  table["griddepcontrol.launch.dependents"] = plain("nf_emu_griddep_launch");
  table["nanosleep"] = plain("nf_emu_nanosleep");
  for (const char *name :
       {"setmaxnreg.inc.sync.aligned.u32", "setmaxnreg.dec.sync.aligned.u32",
        "cp.async.bulk.prefetch.L2"})
    table[name] = nothing();
  for (const char *name :
       {"prefetch.global.L1", "prefetch.global.L2", "prefetch.L1",
        "prefetch.L2", "prefetch.global.L2.evict.last",
        "prefetch.global.L2.evict.normal"})
    table[name] = plain("nf_emu_prefetch");
  table["exit"] = plain("nf_emu_exit");
}

void addMbarrier(StringMap<Handler> &table) {
  for (const char *shared : {"", ".shared"}) {
    auto add = [&](const char *name, Handler handler) {
      table[std::string("mbarrier.") + name + shared] = std::move(handler);
    };
    add("init", plain("nf_emu_mbarrier_init"));
    add("inval", plain("nf_emu_mbarrier_inval"));
    auto arrive = [](uint32_t flags, bool counted) -> Handler {
      return [=](Lowering &l, CallInst *call) {
        return l.call("nf_emu_mbarrier_arrive", i64(l),
                      {arg(call, 0), counted ? arg(call, 1) : l.constant(1),
                       l.constant(0), l.constant(flags)});
      };
    };
    add("arrive", arrive(0, false));
    add("arrive.drop", arrive(arriveDrop, false));
    add("arrive.noComplete", arrive(0, true));
    add("arrive.drop.noComplete", arrive(arriveDrop, true));
    auto test = [](Lowering &l, CallInst *call) {
      return fromI32(
          l,
          l.call("nf_emu_mbarrier_wait", i32(l),
                 {arg(call, 0), arg(call, 1), l.constant(0), l.constant(0)}),
          call->getType());
    };
    add("test.wait", test);
    for (const char *noinc : {"", ".noinc"})
      table[std::string("cp.async.mbarrier.arrive") + noinc + shared] =
          [counts = !*noinc](Lowering &l, CallInst *call) -> Value * {
        l.call("nf_emu_cp_async_mbarrier_arrive", none(l),
               {arg(call, 0), l.constant(counts)});
        return nullptr;
      };
  }
  for (StringRef scope : {"cta", "cluster"})
    for (StringRef space : {"cta", "cluster"}) {
      std::string suffix = (".scope." + scope + ".space." + space).str();
      uint32_t wide = scope == "cluster" ? arriveClusterScope : 0;
      for (bool relaxed : {false, true}) {
        std::string middle = relaxed ? ".relaxed" : "";
        uint32_t flags = wide | (relaxed ? arriveRelaxed : 0);
        for (bool drop : {false, true}) {
          uint32_t all = flags | (drop ? arriveDrop : 0);
          std::string name = drop ? "mbarrier.arrive.drop" : "mbarrier.arrive";
          table[name + middle + suffix] = [all](Lowering &l, CallInst *call) {
            Value *count = call->arg_size() > 1 ? arg(call, 1) : l.constant(1);
            Value *token =
                l.call("nf_emu_mbarrier_arrive", i64(l),
                       {arg(call, 0), count, l.constant(0), l.constant(all)});
            return call->getType()->isVoidTy() ? nullptr : token;
          };
          table[name + ".expect.tx" + middle + suffix] = [all](Lowering &l,
                                                               CallInst *call) {
            Value *token = l.call(
                "nf_emu_mbarrier_arrive", i64(l),
                {arg(call, 0), l.constant(1), arg(call, 1), l.constant(all)});
            return call->getType()->isVoidTy() ? nullptr : token;
          };
        }
        for (bool parity : {false, true})
          for (const char *name : {"test.wait", "try.wait", "try.wait.tl"}) {
            std::string full = name;
            bool block = full != "test.wait";
            size_t limit = full.find(".tl");
            if (parity)
              full.insert(limit == full.npos ? full.size() : limit, ".parity");
            table["mbarrier." + full + middle + suffix] = [=](Lowering &l,
                                                              CallInst *call) {
              return fromI32(l,
                             l.call("nf_emu_mbarrier_wait", i32(l),
                                    {arg(call, 0),
                                     l.builder.CreateZExt(arg(call, 1), i64(l)),
                                     l.constant(parity), l.constant(block)}),
                             call->getType());
            };
          }
      }
      table["mbarrier.expect.tx" + suffix] = plain("nf_emu_mbarrier_expect_tx");
      table["mbarrier.complete.tx" + suffix] =
          plain("nf_emu_mbarrier_complete_tx");
    }
}

void addCopies(StringMap<Handler> &table) {
  for (unsigned bytes : {4, 8, 16})
    for (bool sized : {false, true})
      for (StringRef cache : {"ca", "cg"})
        table[("cp.async." + cache + ".shared.global." + Twine(bytes) +
               (sized ? ".s" : ""))
                  .str()] = copyAsync(bytes, sized);
  table["cp.async.commit.group"] = plain("nf_emu_cp_async_commit");
  table["cp.async.wait.group"] = plain("nf_emu_cp_async_wait");
  table["cp.async.wait.all"] = plain("nf_emu_cp_async_wait_all");
  auto toShared = [](bool cluster) -> Handler {
    return [cluster](Lowering &l, CallInst *call) -> Value * {
      Value *mask = l.constant(0);
      if (cluster)
        mask = l.builder.CreateSelect(arg(call, 6), toI32(l, arg(call, 4)),
                                      l.constant(0));
      l.call("nf_emu_bulk_to_shared", none(l),
             {arg(call, 0), arg(call, 1), arg(call, 2), arg(call, 3), mask});
      return nullptr;
    };
  };
  table["cp.async.bulk.global.to.shared.cluster"] = toShared(true);
  table["cp.async.bulk.global.to.shared.cta"] = toShared(false);
  table["cp.async.bulk.shared.cta.to.cluster"] = toShared(false);
  table["cp.async.bulk.shared.cta.to.global"] = [](Lowering &l,
                                                   CallInst *call) -> Value * {
    l.call("nf_emu_bulk_to_global", none(l),
           {arg(call, 0), arg(call, 1), arg(call, 2)});
    return nullptr;
  };
  table["cp.async.bulk.commit.group"] = plain("nf_emu_bulk_commit");
  for (const char *read : {"", ".read"})
    table[std::string("cp.async.bulk.wait.group") + read] =
        plain("nf_emu_bulk_wait");
  auto map = [](Lowering &l, CallInst *call) {
    return l.builder.CreateAddrSpaceCast(l.call("nf_emu_mapa",
                                                l.builder.getPtrTy(),
                                                {arg(call, 0), arg(call, 1)}),
                                         call->getType());
  };
  table["mapa"] = map;
  table["mapa.shared.cluster"] = map;
  table["getctarank"] = plain("nf_emu_getctarank");
  table["getctarank.shared.cluster"] = plain("nf_emu_getctarank");
  const std::pair<const char *, Space> spaces[] = {
      {"isspacep.global", Space::global},
      {"isspacep.shared", Space::shared},
      {"isspacep.shared.cluster", Space::cluster}};
  for (auto [name, space] : spaces)
    table[name] = [space](Lowering &l, CallInst *call) {
      return fromI32(
          l, l.call("nf_emu_isspacep", i32(l), {arg(call, 0), l.number(space)}),
          call->getType());
    };
}

const StringMap<Handler> &getTable() {
  static const StringMap<Handler> table = [] {
    StringMap<Handler> table;
    addMathIntrinsics(table);
    addRegisters(table);
    addWarp(table);
    addBarriers(table);
    addMbarrier(table);
    addCopies(table);
    return table;
  }();
  return table;
}

} // namespace

Error emulator::lowerIntrinsic(Lowering &lowering, CallInst *call) {
  StringRef name = call->getCalledFunction()->getName();
  StringRef key = name;
  key.consume_front("llvm.nvvm.");
  auto entry = getTable().find(key);
  // Overloaded intrinsics end in their types: ".f32", ".p1".
  if (entry == getTable().end() && key.contains('.'))
    entry = getTable().find(key.rsplit('.').first);
  if (entry == getTable().end())
    return createStringError("the emulator doesn't know " + name);
  lowering.builder.SetInsertPoint(call);
  Value *value = entry->second(lowering, call);
  if (!call->getType()->isVoidTy() && !call->use_empty()) {
    assert(value && value->getType() == call->getType() &&
           "an intrinsic's replacement must have its type");
    call->replaceAllUsesWith(value);
  }
  call->eraseFromParent();
  return Error::success();
}
