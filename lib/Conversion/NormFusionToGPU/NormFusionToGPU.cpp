//===- NormFusionToGPU.cpp - Mixed reductions to kernels and launches -----===//
//
// The host side of the conversion: makes one kernel a variant of an op (the
// schedule's, one for few rows where there is a schedule for them, and the
// plain one for pointers that aren't aligned to 16 bytes), and the code that
// sizes the grid and the workspace on the device found at run time and launches
// it. Each variant has a gpu.module to itself, so that what follows compiles
// them side by side. The kernels' bodies are written by KernelEmitter.
//
//===----------------------------------------------------------------------===//

#include "../ModuleUtils.h"
#include "KernelEmitter.h"
#include "norm_fusion/Conversion/Passes.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/xxhash.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONTOGPU
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;
using namespace mlir::norm_fusion;

namespace {
/// What the launches of all variants of one op share: host values, for the
/// most.
struct HostValues {
  std::string name;               ///< what the kernels' names begin with
  SmallVector<Value> pointers;    ///< !llvm.ptr, or the scalar
  SmallVector<Value> dims;        ///< index
  SmallVector<Value> dynamicDims; ///< i64
  Value rows;                     ///< rows of a segment, index
  Value segments;                 ///< index
  Value columns;                  ///< index
};

struct ToGPUPass final : norm_fusion::impl::NormFusionToGPUBase<ToGPUPass> {
  using Base::Base;

  void runOnOperation() override {
    numKernels = 0;
    SymbolTable symbols(getOperation());
    SmallVector<MixedReductionOp> ops;
    getOperation().walk([&](MixedReductionOp op) { ops.push_back(op); });
    if (!ops.empty() && failed(checkRuntimeFunctions(symbols)))
      return signalPassFailure();
    for (MixedReductionOp op : ops)
      if (failed(convert(op, symbols)))
        return signalPassFailure();
  }

private:
  /// Blocks, the kernel's `splits`, and bytes of its workspace: index.
  struct LaunchSize {
    Value grid, splits, workspaceBytes;
  };

  LogicalResult convert(MixedReductionOp op, SymbolTable &symbols);
  gpu::GPUFuncOp emitKernel(MixedReductionOp op, ScheduleAttr schedule,
                            gpu::GPUModuleOp module, StringRef name,
                            bool combineOnly);
  void launch(ImplicitLocOpBuilder &b, MixedReductionOp op,
              ScheduleAttr schedule, StringRef variant, const HostValues &host,
              SymbolTable &symbols);
  LaunchSize getLaunchSize(ImplicitLocOpBuilder &b, MixedReductionOp op,
                           ScheduleAttr schedule, const HostValues &host,
                           SymbolTable &symbols);
  /// The same under structure=columns, and the columns that a block owns there.
  LaunchSize getColumnsLaunchSize(ImplicitLocOpBuilder &b, MixedReductionOp op,
                                  ScheduleAttr schedule, const HostValues &host,
                                  SymbolTable &symbols);
  Value getColumnsOfBlock(ImplicitLocOpBuilder &b, ScheduleAttr schedule,
                          const HostValues &host, SymbolTable &symbols);
  /// Whether the device found at run time, the sizes and the `aligned` pointers
  /// are such that the schedule's kernel can run.
  Value isPossible(ImplicitLocOpBuilder &b, MixedReductionOp op,
                   ScheduleAttr schedule, const HostValues &host, Value aligned,
                   SymbolTable &symbols);

  /// A function of the runtime that host code calls: of indices, to an index.
  struct RuntimeFunction {
    StringLiteral name;
    unsigned arguments;

    FunctionType getType(MLIRContext *context) const {
      Builder b(context);
      SmallVector<Type> inputs(arguments, b.getIndexType());
      return b.getFunctionType(inputs, b.getIndexType());
    }
  };
  static constexpr RuntimeFunction kMultiprocessorCount = {
      "norm_fusion_multiprocessor_count", 0};
  static constexpr RuntimeFunction kMaxActiveClusters = {
      "norm_fusion_max_active_clusters", 2};
  static constexpr RuntimeFunction kWorkspace = {"norm_fusion_workspace", 2};

  /// A module may declare them, too, as they are.
  LogicalResult checkRuntimeFunctions(SymbolTable &symbols) {
    for (const RuntimeFunction &function :
         {kMultiprocessorCount, kMaxActiveClusters, kWorkspace})
      if (failed(lookupRuntimeFunction<func::FuncOp>(
              symbols, function.name, function.getType(&getContext()),
              "a func.func")))
        return failure();
    return success();
  }

  /// A runtime function of the host, declared when first used.
  func::FuncOp getRuntimeFunction(const RuntimeFunction &runtime,
                                  SymbolTable &symbols) {
    if (auto function = symbols.lookup<func::FuncOp>(runtime.name))
      return function;
    OpBuilder b(&getContext());
    auto function =
        func::FuncOp::create(b, getOperation().getLoc(), runtime.name,
                             runtime.getType(&getContext()));
    function.setPrivate();
    symbols.insert(function);
    return function;
  }

  /// Clusters of the schedule that the device found at run time holds at once.
  Value getActiveClusters(ImplicitLocOpBuilder &b, ScheduleAttr schedule,
                          SymbolTable &symbols) {
    return func::CallOp::create(
               b, getRuntimeFunction(kMaxActiveClusters, symbols),
               ValueRange{
                   arith::ConstantIndexOp::create(b, schedule.getCluster()),
                   arith::ConstantIndexOp::create(b, schedule.getThreads())})
        .getResult(0);
  }

  /// Clusters, or blocks that are none, that run at once.
  Value getClusters(ImplicitLocOpBuilder &b, ScheduleAttr schedule,
                    SymbolTable &symbols) {
    if (schedule.getCluster() > 1)
      return getActiveClusters(b, schedule, symbols);
    return func::CallOp::create(
               b, getRuntimeFunction(kMultiprocessorCount, symbols),
               ValueRange())
        .getResult(0);
  }

  /// Blocks that run at once.
  Value getBlocksAtOnce(ImplicitLocOpBuilder &b, ScheduleAttr schedule,
                        SymbolTable &symbols) {
    return arith::MulIOp::create(
        b, getClusters(b, schedule, symbols),
        arith::ConstantIndexOp::create(b, schedule.getCluster()));
  }

  unsigned numKernels = 0;
};
} // namespace

/// The function that the op is in, to name kernels after.
static StringRef getFunctionName(MixedReductionOp op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return function ? function.getName() : "norm_fusion";
}

/// What a runtime keeps a kernel's workspace by: a hash of what the kernel is
/// made of, so that kernels of modules that were compiled apart share none but
/// with their like, which leave in it what these expect.
static int64_t getNumber(MixedReductionOp op, StringRef name) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << name << '\n';
  // Whatever the command line says of printing.
  op->print(os,
            OpPrintingFlags()
                .useLocalScope()
                .enableDebugInfo(false)
                .printGenericOpForm(false)
                .elideLargeElementsAttrs(std::numeric_limits<int64_t>::max()));
  return llvm::xxh3_64bits(text) >> 1;
}

gpu::GPUFuncOp ToGPUPass::emitKernel(MixedReductionOp op, ScheduleAttr schedule,
                                     gpu::GPUModuleOp module, StringRef name,
                                     bool combineOnly) {
  MLIRContext *context = &getContext();
  ImplicitLocOpBuilder b(op.getLoc(), context);
  b.setInsertionPointToEnd(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<int64_t> sizes = op.getStaticDimSizes();
  SmallVector<Type> types;
  for (Value operand : op.getOperands())
    types.push_back(isa<ShapedType>(operand.getType()) ? Type(pointer)
                                                       : operand.getType());
  types.append(llvm::count(sizes, ShapedType::kDynamic), b.getI64Type());
  types.append({pointer, b.getI64Type()});
  auto function = gpu::GPUFuncOp::create(b, name, b.getFunctionType(types, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  function.setKnownBlockSizeAttr(
      b.getDenseI32ArrayAttr({static_cast<int>(schedule.getThreads()), 1, 1}));

  function->setAttr("nvvm.minctasm",
                    b.getI32IntegerAttr(
                        getMinBlocks(Problem::get(op), schedule, kRegisters)));

  // Symbols of the module that the launcher and the kernel need.
  auto i8Array = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  std::string shared = (name + "_shared").str();
  LLVM::GlobalOp::create(b, i8Array, /*isConstant=*/false,
                         LLVM::Linkage::External, shared, Attribute(),
                         /*alignment=*/128, /*addrSpace=*/3);
  auto flag = [&](StringRef suffix) {
    LLVM::GlobalOp::create(b, b.getI32Type(), /*isConstant=*/true,
                           LLVM::Linkage::External, (name + suffix).str(),
                           b.getI32IntegerAttr(1), /*alignment=*/4,
                           /*addrSpace=*/1);
  };
  // Of tiles the last block to begin alone waits.
  if (op.isSplit() && !combineOnly &&
      schedule.getCombine() != Combine::kernel &&
      schedule.getStructure() != Structure::tile)
    flag("_cooperative");
  flag("_dependent");

  b.setInsertionPointToStart(&function.getBody().front());
  auto global = LLVM::LLVMPointerType::get(context, 1);
  auto toGlobal = [&](Value value) -> Value {
    return LLVM::AddrSpaceCastOp::create(b, global, value);
  };
  KernelArguments arguments;
  unsigned next = 0;
  for (Value operand : op.getOperands()) {
    Value argument = function.getArgument(next++);
    arguments.operands.push_back(
        isa<ShapedType>(operand.getType()) ? toGlobal(argument) : argument);
  }
  for (int64_t size : sizes)
    arguments.dims.push_back(
        ShapedType::isDynamic(size)
            ? Value(function.getArgument(next++))
            : arith::ConstantIntOp::create(b, size, 64).getResult());
  arguments.workspace = toGlobal(function.getArgument(next++));
  arguments.splits = function.getArgument(next++);

  KernelEmitter emitter(b, op, schedule, arguments, b.getStringAttr(shared));
  if (combineOnly)
    emitter.emitCombine();
  else
    emitter.emitRows();
  gpu::ReturnOp::create(b);
  return function;
}

/// Rows that a block takes at least: there is no use for more blocks.
static unsigned getRowsAShare(ScheduleAttr schedule) {
  if (getTileRows(schedule) != 0)
    return getTilePart(schedule);
  return schedule.getRowGroups() * schedule.getRowsAStep();
}

/// The floor: what runs where `schedule` can't.
static ScheduleAttr getPlainSchedule(ScheduleAttr schedule) {
  Combine combine = schedule.getCombine() == Combine::tags
                        ? Combine::grid
                        : schedule.getCombine();
  std::string ignored;
  return parseSchedule(
      schedule.getContext(),
      ("structure=plain warps=8 combine=" + stringifyCombine(combine) +
       " grid=" + Twine(schedule.getGrid()))
          .str(),
      ScheduleAttr(), ignored);
}

/// What the runner's report says of a kernel.
static DictionaryAttr describe(MixedReductionOp op, ScheduleAttr schedule) {
  Builder b(op.getContext());
  int64_t rows = 1, columns = 1;
  for (auto [d, size] : llvm::enumerate(op.getStaticDimSizes())) {
    int64_t &total = op.isColumnDim(d) ? columns : rows;
    total = total < 0 || ShapedType::isDynamic(size) ? -1 : total * size;
  }
  Block *body = op.getBodyBlock();
  auto count = [&](auto range) {
    return b.getI64IntegerAttr(std::distance(range.begin(), range.end()));
  };
  return b.getDictionaryAttr(
      {b.getNamedAttr("rows", b.getI64IntegerAttr(rows)),
       b.getNamedAttr("columns", b.getI64IntegerAttr(columns)),
       b.getNamedAttr("row_reductions", count(body->getOps<RowReduceOp>())),
       b.getNamedAttr("column_reductions",
                      count(body->getOps<PartialAccumulateOp>())),
       b.getNamedAttr("schedule", b.getStringAttr(schedule.getText()))});
}

ToGPUPass::LaunchSize ToGPUPass::getLaunchSize(ImplicitLocOpBuilder &b,
                                               MixedReductionOp op,
                                               ScheduleAttr schedule,
                                               const HostValues &host,
                                               SymbolTable &symbols) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  // One block a multiprocessor, or the clusters that fit; no more items than
  // there are rows to share. Tags need the same items in every launch. A grid
  // that the schedule sets is a number of items: a device that holds fewer at
  // once gives a block several.
  unsigned cluster = schedule.getCluster();
  // Without column results nothing outlives a row: as many blocks as there are
  // rows, unless rows stream through the blocks.
  bool inSteps =
      schedule.getStructure() == Structure::tile && schedule.getSlots() > 1;
  bool streams = isRing(schedule.getStructure()) || inSteps;
  Value one = constant(1), clusters;
  Value shares;
  if (schedule.getGrid())
    shares = constant(std::max(schedule.getGrid() / cluster, 1u));
  if (!op.isSplit() && !streams)
    clusters = shares ? shares
                      : constant(std::numeric_limits<int32_t>::max() / cluster);
  else if (shares && (inSteps || schedule.getCombine() == Combine::kernel))
    clusters = shares; // no block waits for one that begins later
  else
    clusters = getClusters(b, schedule, symbols);
  if (unsigned even = getEvenClusters(Problem::get(op), schedule)) {
    Value isLittleMore = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ule, clusters, constant(even + even / 16));
    clusters = arith::SelectOp::create(
        b, isLittleMore, arith::MinUIOp::create(b, clusters, constant(even)),
        clusters);
  }
  // As many share the rows as a multiprocessor runs beside each other.
  if (inSteps && !shares) {
    Problem problem = Problem::get(op);
    unsigned blocks = std::min(getMinBlocks(problem, schedule, kRegisters),
                               TargetInfo::get("sm_100")->sharedMemoryBytes /
                                   getSharedMemoryBytes(problem, schedule));
    clusters = arith::MulIOp::create(b, clusters, constant(blocks));
  }
  Value segments = arith::MaxUIOp::create(b, host.segments, one);
  Value splits = arith::MaxUIOp::create(
      b, arith::DivUIOp::create(b, shares ? shares : clusters, segments), one);
  if (schedule.getCombine() != Combine::tags) {
    Value useful = arith::CeilDivUIOp::create(
        b, host.rows, constant(getRowsAShare(schedule)));
    useful = arith::MaxUIOp::create(b, useful, one);
    splits = arith::MinUIOp::create(b, splits, useful);
  }
  Value items = arith::MulIOp::create(b, segments, splits);
  Value grid = arith::MulIOp::create(
      b, arith::MinUIOp::create(b, items, clusters), constant(cluster));

  Value pitch = createPitch(b, Problem::get(op), schedule, host.columns);
  Value workspaceBytes = arith::AddIOp::create(
      b,
      arith::MulIOp::create(b, arith::MulIOp::create(b, items, pitch),
                            constant(getWorkspaceColumnBytes(op))),
      constant(kWorkspaceHeaderBytes));
  if (int64_t bytes = getWorkspaceScalarBytes(op))
    workspaceBytes = arith::AddIOp::create(
        b, workspaceBytes,
        arith::MulIOp::create(b, items, constant(bytes * cluster)));
  return {grid, splits, workspaceBytes};
}

Value ToGPUPass::getColumnsOfBlock(ImplicitLocOpBuilder &b,
                                   ScheduleAttr schedule,
                                   const HostValues &host,
                                   SymbolTable &symbols) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value blocks = getClusters(b, schedule, symbols);
  if (schedule.getGrid())
    blocks = arith::MinUIOp::create(b, blocks, constant(schedule.getGrid()));
  Value vectors = arith::CeilDivUIOp::create(
      b, arith::CeilDivUIOp::create(b, host.columns, blocks),
      constant(schedule.getVector()));
  return arith::MulIOp::create(b, vectors, constant(schedule.getVector()));
}

ToGPUPass::LaunchSize ToGPUPass::getColumnsLaunchSize(ImplicitLocOpBuilder &b,
                                                      MixedReductionOp op,
                                                      ScheduleAttr schedule,
                                                      const HostValues &host,
                                                      SymbolTable &symbols) {
  Value owned = getColumnsOfBlock(b, schedule, host, symbols);
  Value grid = arith::CeilDivUIOp::create(b, host.columns, owned);
  int64_t bytes = schedule.getRowGroups() * schedule.getRows() *
                  getWorkspaceRowBytes(Problem::get(op));
  Value workspaceBytes = arith::AddIOp::create(
      b,
      arith::MulIOp::create(b, grid, arith::ConstantIndexOp::create(b, bytes)),
      arith::ConstantIndexOp::create(b, kWorkspaceHeaderBytes));
  return {grid, owned, workspaceBytes};
}

void ToGPUPass::launch(ImplicitLocOpBuilder &b, MixedReductionOp op,
                       ScheduleAttr schedule, StringRef variant,
                       const HostValues &host, SymbolTable &symbols) {
  OpBuilder moduleBuilder(&getContext());
  auto module = gpu::GPUModuleOp::create(
      moduleBuilder, op.getLoc(), ("norm_fusion_kernels" + variant).str());
  symbols.insert(module);
  std::string name = host.name + variant.str();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  unsigned cluster = schedule.getCluster();
  unsigned sharedBytes = getSharedMemoryBytes(Problem::get(op), schedule);
  Value one = constant(1);
  auto [grid, splits, workspaceBytes] =
      schedule.getStructure() == Structure::columns
          ? getColumnsLaunchSize(b, op, schedule, host, symbols)
          : getLaunchSize(b, op, schedule, host, symbols);
  Value workspace = constant(0);
  if (op.isSplit())
    workspace = func::CallOp::create(
                    b, getRuntimeFunction(kWorkspace, symbols),
                    ValueRange{workspaceBytes, constant(getNumber(op, name))})
                    .getResult(0);
  ++numKernels;
  auto toI64 = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, b.getI64Type(), value);
  };
  SmallVector<Value> arguments(host.pointers);
  llvm::append_range(arguments, host.dynamicDims);
  arguments.push_back(LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()), toI64(workspace)));
  arguments.push_back(toI64(splits));

  Value threads = constant(schedule.getThreads());
  Value shared = arith::ConstantIntOp::create(b, sharedBytes, 32);
  auto emit = [&, grid = grid](StringRef kernel, bool combineOnly) {
    gpu::GPUFuncOp function =
        emitKernel(op, schedule, module, kernel, combineOnly);
    auto launchOp = gpu::LaunchFuncOp::create(
        b, function, gpu::KernelDim3{grid, one, one},
        gpu::KernelDim3{threads, one, one}, shared, arguments,
        /*asyncTokenType=*/Type(), /*asyncDependencies=*/ValueRange(),
        cluster > 1 && !combineOnly
            ? std::optional(gpu::KernelDim3{constant(cluster), one, one})
            : std::nullopt);
    if (combineOnly)
      return;
    DictionaryAttr description = describe(op, schedule);
    function->setAttr("norm_fusion.kernel", description);
    launchOp->setAttr("norm_fusion.kernel", description);
  };
  emit(name, /*combineOnly=*/false);
  if (op.isSplit() && schedule.getCombine() == Combine::kernel)
    emit(name + "_combine", /*combineOnly=*/true);
}

Value ToGPUPass::isPossible(ImplicitLocOpBuilder &b, MixedReductionOp op,
                            ScheduleAttr schedule, const HostValues &host,
                            Value aligned, SymbolTable &symbols) {
  // Clusters need a device that holds one.
  Value possible = aligned;
  if (schedule.getCluster() > 1)
    possible = arith::AndIOp::create(
        b, aligned,
        arith::CmpIOp::create(b, arith::CmpIPredicate::ugt,
                              getActiveClusters(b, schedule, symbols),
                              arith::ConstantIndexOp::create(b, 0)));
  // Framed rows need row groups for all classes.
  Problem problem = Problem::get(op);
  if (isFramed(problem, schedule)) {
    Value clusters =
        schedule.getGrid()
            ? arith::ConstantIndexOp::create(
                  b, std::max(schedule.getGrid() / schedule.getCluster(), 1u))
                  .getResult()
            : getClusters(b, schedule, symbols);
    possible = arith::AndIOp::create(
        b, possible,
        arith::CmpIOp::create(
            b, arith::CmpIPredicate::uge,
            arith::MulIOp::create(
                b, clusters,
                arith::ConstantIndexOp::create(b, schedule.getRowGroups())),
            arith::ConstantIndexOp::create(
                b, getLeastRowGroups(problem, schedule))));
  }
  auto hasAtMost = [&](int64_t rows) {
    possible = arith::AndIOp::create(
        b, possible,
        arith::CmpIOp::create(b, arith::CmpIPredicate::ule, host.rows,
                              arith::ConstantIndexOp::create(b, rows)));
  };
  if (isRing(schedule.getStructure()))
    hasAtMost(kMostRingRows);
  // One block (cluster) does one share of the rows: as many as a grid has.
  bool isShared = schedule.getStructure() == Structure::rows ||
                  schedule.getStructure() == Structure::tile;
  if (isShared && schedule.getGrid() == 0)
    hasAtMost(
        int64_t(std::numeric_limits<int32_t>::max() / schedule.getCluster()) *
        getRowsAShare(schedule));
  // Blocks that own columns hold them all, and have a row to read.
  if (schedule.getStructure() == Structure::columns) {
    possible = arith::AndIOp::create(
        b, possible,
        arith::CmpIOp::create(
            b, arith::CmpIPredicate::ule,
            getColumnsOfBlock(b, schedule, host, symbols),
            arith::ConstantIndexOp::create(b, schedule.getBlockColumns())));
    possible = arith::AndIOp::create(
        b, possible,
        arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, host.rows,
                              arith::ConstantIndexOp::create(b, 0)));
  }
  return possible;
}

LogicalResult ToGPUPass::convert(MixedReductionOp op, SymbolTable &symbols) {
  if (op.hasPureTensorSemantics())
    return op.emitError("expected memrefs: bufferize first");
  ScheduleAttr schedule = op.getScheduleAttr();
  // What was folded since the schedule was chosen may have no kernel any more.
  if (Problem problem = Problem::get(op); !problem.unsupported.empty())
    return op.emitError("has no kernel: ")
           << problem.unsupported << ", expected " << problem.needed
           << "; there is no fallback on memrefs";
  if (!schedule)
    return op.emitError("has no schedule: run norm-fusion-schedule first");
  // Other passes may have changed the op since, or a person written it.
  auto isLegal = [&](ScheduleAttr given, StringRef instead) {
    std::string why;
    if (isLegalSchedule(Problem::get(op), given, *TargetInfo::get("sm_100"),
                        why))
      return true;
    remark::missed(op.getLoc(),
                   remark::RemarkOpts::name("schedule").category("norm-fusion"))
        << remark::metric("op", op->getName().getStringRef().str())
        << remark::metric("found", why)
        << remark::metric("needed", "a schedule that is possible for the op as "
                                    "it is now: " +
                                        instead.str() + " is taken");
    return false;
  };
  if (!isLegal(schedule, "the plain kernel"))
    schedule = getPlainSchedule(schedule);
  SmallVector<FewRowsAttr> fewRows = op.getFewRowsEntries();
  llvm::erase_if(fewRows, [&](FewRowsAttr few) {
    return !isLegal(few.getSchedule(), "the kernel for more rows");
  });
  ImplicitLocOpBuilder b(op.getLoc(), op);

  // Kernels take packed row-major buffers; others go through a copy.
  SmallVector<std::pair<Value, Value>> copyBack;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type || type.getLayout().isIdentity())
      continue;
    SmallVector<Value> sizes;
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.isDynamicDim(d))
        sizes.push_back(memref::DimOp::create(b, operand.get(), d));
    Value packed = memref::AllocOp::create(
        b, MemRefType::get(type.getShape(), type.getElementType()), sizes);
    if (op.isDpsInit(&operand))
      copyBack.push_back({packed, operand.get()});
    else
      memref::CopyOp::create(b, operand.get(), packed);
    operand.set(packed);
  }

  HostValues host;
  host.name = getKernelPrefix(getFunctionName(op)) + "_mixed_reduction_" +
              std::to_string(numKernels);
  host.dims.resize(op.getNumDims());
  SmallVector<int64_t> sizes = op.getStaticDimSizes();
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type) {
      host.pointers.push_back(operand);
      continue;
    }
    AffineMap map = op.getInputMap(i);
    for (auto [k, expr] : llvm::enumerate(map.getResults())) {
      Value &dim = host.dims[cast<AffineDimExpr>(expr).getPosition()];
      if (!dim)
        dim = memref::DimOp::create(b, operand, k);
    }
    // An identity layout has offset 0.
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, operand);
    host.pointers.push_back(LLVM::IntToPtrOp::create(
        b, LLVM::LLVMPointerType::get(b.getContext()),
        arith::IndexCastOp::create(b, b.getI64Type(), address).getResult()));
  }
  for (unsigned d = 0; d < op.getNumDims(); ++d)
    if (ShapedType::isDynamic(sizes[d]))
      host.dynamicDims.push_back(
          arith::IndexCastOp::create(b, b.getI64Type(), host.dims[d]));
    else
      host.dims[d] = arith::ConstantIndexOp::create(b, sizes[d]);
  llvm::SmallBitVector reduced = op.getRowDims();
  for (auto accumulate : op.getBodyBlock()->getOps<PartialAccumulateOp>())
    if (accumulate.getOver())
      reduced = op.getReducedDims(accumulate);
  host.rows = host.segments = host.columns =
      arith::ConstantIndexOp::create(b, 1);
  for (unsigned d = 0; d < op.getNumDims(); ++d) {
    Value &total = op.isColumnDim(d) ? host.columns
                   : reduced.test(d) ? host.rows
                                     : host.segments;
    total = arith::MulIOp::create(b, total, host.dims[d]);
  }

  getOperation()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                          b.getUnitAttr());

  // Vectors need pointers that are multiples of 16.
  auto isAligned = [&] {
    Value bits = arith::ConstantIntOp::create(b, 0, 64);
    for (Value pointer : host.pointers)
      if (isa<LLVM::LLVMPointerType>(pointer.getType()))
        bits = arith::OrIOp::create(
            b, bits, LLVM::PtrToIntOp::create(b, b.getI64Type(), pointer));
    Value low =
        arith::AndIOp::create(b, bits, arith::ConstantIntOp::create(b, 15, 64));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, low,
                                 arith::ConstantIntOp::create(b, 0, 64))
        .getResult();
  };
  // The first variant that is possible.
  auto launchIf = [&](Value possible, ScheduleAttr given, StringRef variant) {
    auto ifOp = scf::IfOp::create(b, possible, /*withElseRegion=*/true);
    b.setInsertionPointToStart(ifOp.thenBlock());
    launch(b, op, given, variant, host, symbols);
    b.setInsertionPointToStart(ifOp.elseBlock());
  };
  bool isPlain = schedule.getStructure() == Structure::plain;
  Value aligned = !isPlain || !fewRows.empty() ? isAligned() : Value();
  for (FewRowsAttr few : fewRows) {
    ScheduleAttr given = few.getSchedule();
    Value isFew =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ule, host.rows,
                              arith::ConstantIndexOp::create(b, few.getRows()));
    isFew = arith::AndIOp::create(
        b, isPossible(b, op, given, host, aligned, symbols), isFew);
    // Nine tenths of the blocks. (An H200 may run seven clusters of sixteen,
    // 112 blocks, and fifteen of eight.)
    if (given.getCluster() > kPortableCluster) {
      auto times = [&](int64_t factor, ScheduleAttr of) {
        return arith::MulIOp::create(b, getBlocksAtOnce(b, of, symbols),
                                     arith::ConstantIndexOp::create(b, factor));
      };
      isFew = arith::AndIOp::create(
          b, isFew,
          arith::CmpIOp::create(b, arith::CmpIPredicate::uge, times(10, given),
                                times(9, schedule)));
    }
    launchIf(isFew, given, "_few_rows_" + std::to_string(few.getRows()));
  }
  if (isPlain) {
    launch(b, op, schedule, "", host, symbols);
  } else {
    launchIf(isPossible(b, op, schedule, host, aligned, symbols), schedule, "");
    launch(b, op, getPlainSchedule(schedule), "_plain", host, symbols);
  }
  b.setInsertionPoint(op);
  for (auto [packed, target] : copyBack)
    memref::CopyOp::create(b, packed, target);
  op.erase();
  return success();
}
