//===- Passes.td - Passes on the norm_fusion dialect -------*- tablegen -*-===//

#ifndef NORM_FUSION_TRANSFORMS_PASSES_TD
#define NORM_FUSION_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def NormFusionInline : Pass<"norm-fusion-inline", "::mlir::ModuleOp"> {
  let summary = "Inline calls and drop functions that nothing calls";
  let description = [{
    Upstream's `inline`, without canonicalization, and `symbol-dce`: front ends
    put parts of a norm into private functions. Nothing is changed in a module
    with a region of an unregistered op, whose symbols nobody knows.
  }];
}

def NormFusionForm : Pass<"norm-fusion-form"> {
  let summary = "Detect mixed-order reductions and form one op a group";
  let description = [{
    Finds groups of row-wise and column-wise reductions over one space in linalg
    on tensors, by dataflow alone, and replaces each by one
    `norm_fusion.mixed_reduction`. IR that it can't use is not changed, and a
    `Missed` remark says why. Of legal groups, those are formed that save bytes
    and fit the chip's shared memory, kernel parameters and registers.
  }];
  let dependentDialects = ["::mlir::norm_fusion::NormFusionDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let options = [
    Option<"rowOnly", "row-only", "bool", "false",
           "Form groups of row reductions alone too">,
    Option<"profit", "profit", "::mlir::norm_fusion::Profit",
           "::mlir::norm_fusion::Profit::automatic",
           "Which legal groups to form",
           [{::llvm::cl::values(
             clEnumValN(::mlir::norm_fusion::Profit::automatic, "auto",
                        "those that are worth it on the chip"),
             clEnumValN(::mlir::norm_fusion::Profit::always, "always", "all"),
             clEnumValN(::mlir::norm_fusion::Profit::never, "never", "none"))}]>,
    Option<"chip", "chip", "std::string", "\"sm_90a\"",
           "Chip whose budgets count">];
}

def NormFusionPartialAccumulate : Pass<"norm-fusion-partial-accumulate"> {
  let summary = "Split column reductions into partial accumulation and combine";
  let description = [{
    Replaces every `column_reduce` by a `partial_accumulate` and moves what
    depends on its result into the `combine` region.
  }];
}

def NormFusionSchedule : Pass<"norm-fusion-schedule"> {
  let summary = "Attach a schedule to every mixed reduction";
  let description = [{
    Simplifies the op's regions (canonicalization, common subexpressions) until
    nothing changes, then chooses a `#norm_fusion.schedule` from the problem and
    the target. An op that has one keeps it; `schedule` overrides single fields.
    Launches with few rows get others, `few_rows`, where that isn't the fastest
    for them, unless it is given, tuned, overridden or `batch-invariant`.

    `tuning` names a database that `norm-fusion-runner --tune` wrote. Its entry
    for an op's problem, chip and version is taken instead. Entries for other
    chips and versions and schedules that aren't possible are ignored, and a
    remark named `tuning` says so; a file that isn't such a database is an error.

    `memory-bandwidth` is that of the device's memory where it isn't the usual
    part of the chip (an H200 of sm_90): fewer bytes are in flight where it is
    less. It counts for nothing with `batch-invariant`.

    With `batch-invariant` a row's results depend neither on how many rows there
    are, as those of few rows do, nor on its index, as those of framed rows do;
    and the column results don't depend on the number of multiprocessors: unless
    the schedule sets a grid, it deals the rows out to 128 blocks (112 or 102 in
    larger clusters), whatever the device, and the partials are combined in
    their order.
  }];
  let dependentDialects = ["::mlir::norm_fusion::NormFusionDialect"];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_90a\"", "Chip to schedule for">,
    Option<"memoryBandwidth", "memory-bandwidth", "unsigned", "0",
           "Of the device's memory in GB/s; 0: that of the chip's usual part">,
    Option<"schedule", "schedule", "std::string", "\"\"",
           "Fields to override, as the attribute prints them">,
    Option<"tuning", "tuning", "std::string", "\"\"",
           "Database of tuned schedules">,
    Option<"batchInvariant", "batch-invariant", "bool", "false",
           "The same bits of column results on all devices">];
}

#endif // NORM_FUSION_TRANSFORMS_PASSES_TD
