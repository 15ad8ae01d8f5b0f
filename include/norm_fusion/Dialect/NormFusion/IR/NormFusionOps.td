//===- NormFusionOps.td - Ops of the norm_fusion dialect ---*- tablegen -*-===//
//
// The mixed reduction and what may stand in its region. The constraints that
// ODS can't express are labelled C1, C2, ... here, in the verifier
// (NormFusionVerify.cpp) and in test/Dialect/NormFusion/invalid.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_OPS_TD
#define NORM_FUSION_OPS_TD

include "norm_fusion/Dialect/NormFusion/IR/NormFusionAttrs.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class NormFusion_Op<string mnemonic, list<Trait> traits = []>
    : Op<NormFusion_Dialect, mnemonic, traits>;

def NormFusion_MixedReductionOp : NormFusion_Op<"mixed_reduction", [
    AttrSizedOperandSegments, IsolatedFromAbove, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite",
      "getAliasingValues", "bufferize"]>]> {
  let summary = "Row-wise and column-wise reductions over one space";
  let description = [{
    Computes elementwise ops, row reductions and column reductions over the
    space of `dims`, and writes any number of results.

    `dims` lists the dimensions of the space, each `row` or `column`. Operand
    `k` (inputs first, then outputs) is indexed by `indexing_maps[k]`, a
    projected permutation of the space. An input of no dimensions may be a
    scalar. The body's arguments are the inputs' elements; outputs are
    destinations: their contents are never read. A value that a reduction
    starts from is an input that the region combines with the result.

    Level inference: an argument varies over the dimensions of its map;
    `index` over its dimension; `row_reduce` removes the column dimensions of its
    operand, `column_reduce` the row dimensions (or only those of its `over`);
    all other ops take the union of their operands.

    Semantics, for a body with one of each: with `i` the row and `j` the column
    index, `r[i] = combine over j of p[i,j]`, `c[j] = combine over i of q[i,j]`,
    in an order that the schedule chooses: combiners may be reassociated. What
    reduces everything is a `column_reduce` of a `row_reduce`. The
    order depends on the schedule and the device alone, so results are the same
    bits from run to run. If there are no rows, column results are the
    combiner's identity. A reduction takes its operand once for each point that
    it reduces, also where the operand doesn't vary: folding a body may take a
    dimension off an operand, not change what a reduction of it is.

    After `norm-fusion-partial-accumulate` the body has `partial_accumulate` in
    place of `column_reduce`, and the `combine` region (arguments: all inputs,
    then one finished total a `partial_accumulate`) computes the results that
    vary over columns.

    `norm-fusion-schedule` attaches `schedule`, and `few_rows` where launches
    with few rows have kernels of their own: a launch takes the first of them
    that is for as many rows as there are, and possible on the device.

    Constraints:
    - C1: one indexing map an operand, each a projected permutation over `dims`.
    - C2: an operand's rank is its map's number of results; a scalar's map has none.
    - C3: equal static sizes wherever two operands share a dimension.
    - C4: every dimension has an operand that is indexed by it.
    - C5: one body argument an input, of its element type.
    - C6: at least one dimension is `row` and one is `column`.
    - C7: a yielded value varies over no dimension that its output lacks.
    - C8: no value that depends on a column reduction reaches a reduction or a value that varies over a row dimension which that reduction removed.
    - C9: results are tensors or there are none: operands are all tensors (or scalars), or all memrefs (or scalars).
    - C10: without `combine` no `partial_accumulate`; with it no `column_reduce`, and one combine argument an input and an accumulation.
    - C11: the ops of the regions have no side effects, no regions, and scalar operands and results.
    - C12: yielded types are the outputs' element types; `combine` yields the outputs of one element and those that vary over columns but not over all row dimensions, a body with `combine` the others, each in order.
    - C16: the `rows` of `few_rows` are positive and rise from entry to entry.

    ```mlir
    %dx, %dw = norm_fusion.mixed_reduction dims = [row, column]
        ins(%dy, %x, %w, %rstd : tensor<?x4096xbf16>, tensor<?x4096xbf16>, tensor<4096xbf16>, tensor<?xf32>)
        outs(%dx0, %dw0 : tensor<?x4096xbf16>, tensor<4096xbf16>)
        maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
                affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>] {
    ^bb0(%dy_e: bf16, %x_e: bf16, %w_e: bf16, %r: f32):
      ...
      %s = norm_fusion.row_reduce add, %p : f32
      ...
      %c = norm_fusion.column_reduce add, %q : f32
      ...
      norm_fusion.yield %dx_e, %dw_e : bf16, bf16
    } -> tensor<?x4096xbf16>, tensor<4096xbf16>
    ```
  }];
  let arguments = (ins
    Variadic<AnyType>:$inputs, Variadic<AnyShaped>:$outputs,
    NormFusion_DimKindArrayAttr:$dims, AffineMapArrayAttr:$indexing_maps,
    OptionalAttr<NormFusion_ScheduleAttr>:$schedule,
    OptionalAttr<NormFusion_FewRowsArrayAttr>:$few_rows);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body, MaxSizedRegion<1>:$combine);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }

    /// Number of dimensions of the space.
    unsigned getNumDims() { return getDims().size(); }
    bool isColumnDim(unsigned d);
    /// The dimensions that are walked by rows, and those along a row.
    llvm::SmallBitVector getRowDims();
    llvm::SmallBitVector getColumnDims();
    /// The dimensions that `op` of the body removes: none if it isn't a
    /// reduction.
    llvm::SmallBitVector getReducedDims(Operation *op);
    AffineMap getInputMap(unsigned i);
    AffineMap getOutputMap(unsigned i);
    /// Static sizes of the dimensions, ShapedType::kDynamic where unknown.
    SmallVector<int64_t> getStaticDimSizes();
    /// The level (set of dimensions) of every value of the body, in
    /// the combine region too where there is one.
    void inferLevels(llvm::DenseMap<Value, llvm::SmallBitVector> &levels);
    /// True if output i is written by the combine region once there is one:
    /// it is one element, or varies over a column dimension and not over all
    /// row dimensions.
    bool isColumnOutput(unsigned i);
    bool isSplit() { return !getCombine().empty(); }
    Block *getBodyBlock() { return &getBody().front(); }
    Block *getCombineBlock() { return &getCombine().front(); }
    bool hasPureTensorSemantics() { return getNumResults() != 0; }
    /// What few_rows holds, in its order; none, if there is none.
    SmallVector<FewRowsAttr> getFewRowsEntries();
    void setFewRowsEntries(ArrayRef<FewRowsAttr> entries);
  }];
}

class NormFusion_ReduceOp<string mnemonic> :
    NormFusion_Op<mnemonic, [Pure, SameOperandsAndResultType,
                             ParentOneOf<["MixedReductionOp"]>]> {
  let arguments = (ins NormFusion_CombinerAttr:$combiner,
    AnyTypeOf<[AnyFloat, AnySignlessInteger, Index]>:$operand,
    OptionalAttr<DenseI64ArrayAttr>:$over);
  let results = (outs AnyType:$result);
  let assemblyFormat =
    "`` $combiner `,` $operand (`over` $over^)? attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

def NormFusion_RowReduceOp : NormFusion_ReduceOp<"row_reduce"> {
  let summary = "Reduction along each row: element to row";
  let description = [{
    Combines the operand over all column dimensions (or over the column
    dimensions in `over`), starting from the combiner's identity. The
    accumulator has the operand's type.

    - C13: `over` lists column dimensions of the space, each once.
    - C14: the combiner fits the type (`maxs` an integer, `maximum` a float, ...).

    ```mlir
    %s = norm_fusion.row_reduce add, %p : f32
    ```
  }];
}

def NormFusion_ColumnReduceOp : NormFusion_ReduceOp<"column_reduce"> {
  let summary = "Reduction down each column: element to column";
  let description = [{
    Combines the operand over all row dimensions; with `over`, over these alone:
    a segmented sum with one result a segment and column. Starts from the
    combiner's identity.

    - C13: `over` lists row dimensions of the space, each once.
    - C14: the combiner fits the type.

    ```mlir
    %c = norm_fusion.column_reduce add, %q : f32
    %d = norm_fusion.column_reduce add, %q over [1] : f32
    ```
  }];
}

def NormFusion_PartialAccumulateOp : NormFusion_Op<"partial_accumulate", [
    ParentOneOf<["MixedReductionOp"]>, MemoryEffects<[MemWrite]>]> {
  let summary = "Adds an element to a block's private column accumulator";
  let description = [{
    What a column reduction becomes: every block keeps an accumulator a column,
    which starts from the identity; the finished total, merged over the blocks
    in a fixed order, is an argument of the `combine` region. C13 and C14 hold as
    for `column_reduce`.

    ```mlir
    norm_fusion.partial_accumulate add, %q : f32
    ```
  }];
  let arguments = (ins NormFusion_CombinerAttr:$combiner,
    AnyTypeOf<[AnyFloat, AnySignlessInteger, Index]>:$operand,
    OptionalAttr<DenseI64ArrayAttr>:$over);
  let assemblyFormat =
    "`` $combiner `,` $operand (`over` $over^)? attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

def NormFusion_IndexOp : NormFusion_Op<"index", [
    Pure, ParentOneOf<["MixedReductionOp"]>]> {
  let summary = "Index of the point in a dimension of the space";
  let description = [{
    From 0 on, like `linalg.index`: for masks and positions.

    - C15: `dim` is a dimension of the space.

    ```mlir
    %j = norm_fusion.index 1 : index
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def NormFusion_YieldOp : NormFusion_Op<"yield", [
    Pure, Terminator, ParentOneOf<["MixedReductionOp"]>]> {
  let summary = "Results of a region of a mixed reduction";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // NORM_FUSION_OPS_TD
