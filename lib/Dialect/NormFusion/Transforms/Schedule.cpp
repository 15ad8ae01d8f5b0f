//===- Schedule.cpp - Attach a schedule to every mixed reduction ----------===//
//
// Reads the problem off the op, asks the schedule library, and leaves the
// decision as an attribute that the conversion to gpu only reads. An op that
// no kernel can be generated for gets none, and a remark says why. What folding
// makes of a region decides whether there is a kernel, so regions are
// simplified first, until nothing changes.
//
//===----------------------------------------------------------------------===//

#include "Remarks.h"

#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h"
#include "norm_fusion/Schedule/Tuning.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONSCHEDULE
#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;
using namespace mlir::norm_fusion;

/// The structure that a schedule's text names, if it names one.
static std::optional<Structure> getGivenStructure(StringRef text) {
  SmallVector<StringRef> fields;
  llvm::SplitString(text, fields, " \t\n,");
  for (StringRef field : fields)
    if (field.consume_front("structure="))
      return symbolizeStructure(field);
  return std::nullopt;
}

namespace {
struct SchedulePass final
    : norm_fusion::impl::NormFusionScheduleBase<SchedulePass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet owned(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(owned);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      name.getCanonicalizationPatterns(owned, context);
    patterns = FrozenRewritePatternSet(std::move(owned));
    return success();
  }

  void runOnOperation() override {
    // All devices get the same schedule where they must get the same bits.
    std::optional<TargetInfo> target =
        TargetInfo::get(chip, batchInvariant ? 0 : memoryBandwidth);
    if (!target) {
      getOperation()->emitError()
          << "unknown chip '" << chip << "', expected " << TargetInfo::chips;
      return signalPassFailure();
    }
    // Whether or not there is an op that takes the fields.
    std::string error;
    ScheduleAttr smallest = parseSchedule(&getContext(), "warps=1", {}, error);
    if (!parseSchedule(&getContext(), schedule, smallest, error)) {
      getOperation()->emitError(error);
      return signalPassFailure();
    }
    TuningDatabase database;
    if (!tuning.empty()) {
      llvm::Expected<TuningDatabase> read =
          TuningDatabase::read(tuning, &getContext());
      if (!read) {
        getOperation()->emitError(llvm::toString(read.takeError()));
        return signalPassFailure();
      }
      database = std::move(*read);
    }
    auto result = getOperation()->walk([&](MixedReductionOp op) {
      return failed(run(op, *target, database)) ? WalkResult::interrupt()
                                                : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  /// Whether a schedule gives the same bits on all devices, if it has to.
  bool isInvariant(ScheduleAttr schedule, std::string &error) const {
    if (!batchInvariant || schedule.getStructure() != Structure::columns)
      return true;
    error = "structure=columns has all blocks share each row, and isn't "
            "batch-invariant";
    return false;
  }

  /// Canonicalizes the regions of `op` and removes common subexpressions: a
  /// canonicalizer that runs later mustn't find anything to do.
  void simplify(MixedReductionOp op) {
    // Each round removes ops; the limit is for patterns that go in circles.
    constexpr unsigned maxRounds = 16;
    bool changed = true;
    for (unsigned round = 0; changed && round < maxRounds; ++round) {
      changed = false;
      for (Region &region : op->getRegions()) {
        bool folded = false;
        (void)applyPatternsGreedily(region, patterns, GreedyRewriteConfig(),
                                    &folded);
        changed |= folded;
      }
      bool merged = false;
      IRRewriter rewriter(&getContext());
      DominanceInfo dominance(op);
      eliminateCommonSubExpressions(rewriter, dominance, op, &merged);
      changed |= merged;
    }
  }

  LogicalResult run(MixedReductionOp op, const TargetInfo &target,
                    const TuningDatabase &database) {
    simplify(op);
    Problem problem = Problem::get(op);
    // A framed row's order of additions depends on where it begins.
    problem.mayBeFramed = !batchInvariant;
    // What goes with another schedule, or gives few rows other bits.
    if (batchInvariant || !schedule.empty())
      op.removeFewRowsAttr();
    std::string reason, error;
    ScheduleAttr chosen = op.getScheduleAttr();
    if (chosen) {
      reason = "given";
    } else {
      chosen = chooseSchedule(&getContext(), problem, target, reason);
    }
    auto options = getRemark("schedule", op);
    if (!chosen) {
      remark::missed(op.getLoc(), options)
          << remark::metric("op", op->getName().getStringRef().str())
          << remark::metric("found", reason)
          << remark::metric("needed", problem.needed);
      return success();
    }
    ScheduleAttr untuned = chosen;
    if (!op.getScheduleAttr())
      takeTuned(op, problem, target, database, chosen, reason);
    // What was given or measured is meant for any number of rows.
    if (!op.getScheduleAttr() && chosen == untuned && schedule.empty() &&
        !batchInvariant) {
      SmallVector<FewRowsAttr> fewRows = chooseFewRows(problem, target, chosen);
      op.setFewRowsEntries(fewRows);
      for (FewRowsAttr few : fewRows)
        reason += llvm::formatv("; up to {0} rows: {1}", few.getRows(),
                                few.getSchedule().getText());
    }
    problem.mayBeFramed = true; // if it is asked for
    if (!schedule.empty()) {
      // What is given isn't possible with the other fields of `from`.
      auto isRefused = [&](ScheduleAttr from) {
        ScheduleAttr merged =
            parseSchedule(&getContext(), schedule, from, error);
        return merged && !isLegalSchedule(problem, merged, target, error);
      };
      // Another structure alone takes the fields that go with it.
      ScheduleAttr base = chosen;
      std::optional<Structure> structure = getGivenStructure(schedule);
      if (structure && *structure != chosen.getStructure()) {
        ScheduleAttr usual = getDefaultSchedule(&getContext(), problem, target,
                                                *structure, error);
        if (!usual)
          return op.emitError("schedule isn't possible: ") << error;
        if (usual.getStructure() == *structure)
          base = usual;
      }
      // Of a tile's fields fewer can be others than of a ring's: its reductions
      // of everything need tags, say.
      if (!structure && chosen.getStructure() == Structure::tile &&
          problem.hasPartials() && isRefused(chosen))
        if (ScheduleAttr ring = getDefaultSchedule(
                &getContext(), problem, target, Structure::ring, error))
          base = ring;
      // A warp's rows are whole pieces of memory for some vectors, lanes and
      // rows alone: unless it is asked for, copy=rows leaves with them.
      if (base && base.getCopy() == Copy::rows && isRefused(base)) {
        ScheduleAttr byLanes =
            parseSchedule(&getContext(), "copy=cp-async", base, error);
        if (byLanes && !isRefused(byLanes))
          base = byLanes;
      }
      ScheduleAttr overridden =
          parseSchedule(&getContext(), schedule, base, error);
      if (!overridden)
        return op.emitError(error);
      chosen = overridden;
      reason += ", overridden";
    }
    if (batchInvariant && problem.hasPartials() && chosen.getGrid() == 0) {
      // The results mustn't depend on the device: a grid that large parts run
      // at once.
      unsigned cluster = chosen.getCluster();
      unsigned grid = getUsualBlocks(cluster) / cluster * cluster;
      chosen = parseSchedule(
          &getContext(), llvm::formatv("grid={0}", grid).str(), chosen, error);
      if (!chosen)
        return op.emitError(error);
      reason += ", batch-invariant";
    }
    if (!isLegalSchedule(problem, chosen, target, error) ||
        !isInvariant(chosen, error))
      return op.emitError("schedule isn't possible: ") << error;
    op.setScheduleAttr(chosen);
    remark::analysis(op.getLoc(), options) << chosen.getText() << ": " << reason;
    return success();
  }

  /// Puts the database's schedule into `chosen` if there is one that can be.
  void takeTuned(MixedReductionOp op, const Problem &problem,
                 const TargetInfo &target, const TuningDatabase &database,
                 ScheduleAttr &chosen, std::string &reason) {
    auto options = getRemark("tuning", op);
    std::string ignored, error;
    const TuningEntry *entry = database.lookUp(problem, chip, ignored);
    if (!entry) {
      if (!ignored.empty())
        remark::missed(op.getLoc(), options)
            << "tuned for " + ignored + ", not for " + chip +
                   " with version " NORM_FUSION_VERSION
                   "; tune again with norm-fusion-runner --tune";
      return;
    }
    ScheduleAttr tuned = entry->parsed;
    if (!isLegalSchedule(problem, tuned, target, error) ||
        !isInvariant(tuned, error)) {
      remark::missed(op.getLoc(), options)
          << "the tuned schedule isn't possible: " + error;
      return;
    }
    chosen = tuned;
    reason =
        llvm::formatv("tuned: {0:f2} us, untuned {1:f2}, with {2} rows on "
                      "{3}",
                      entry->us, entry->untunedUs, entry->rows, entry->device);
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
