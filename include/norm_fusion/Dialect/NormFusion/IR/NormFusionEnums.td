//===- NormFusionEnums.td - Enumerations of the dialect ----*- tablegen -*-===//
//
// Dimension kinds, combiners, and the fields of a schedule that are a choice.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_ENUMS_TD
#define NORM_FUSION_ENUMS_TD

include "mlir/IR/EnumAttr.td"
include "norm_fusion/Dialect/NormFusion/IR/NormFusionDialect.td"

class NormFusion_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::norm_fusion";
  let genSpecializedAttr = 0;
}

def NormFusion_DimKind : NormFusion_Enum<"DimKind",
    "Whether a dimension of the space is walked by rows or along a row", [
  I32EnumAttrCase<"row", 0>, I32EnumAttrCase<"column", 1>]>;
def NormFusion_DimKindAttr :
    EnumAttr<NormFusion_Dialect, NormFusion_DimKind, "dim">;
def NormFusion_DimKindArrayAttr :
    TypedArrayAttrBase<NormFusion_DimKindAttr, "dimension kinds">;

def NormFusion_Combiner : NormFusion_Enum<"Combiner",
    "Commutative, associative (or reassociable) combiner of a reduction", [
  I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"mul", 1>,
  I32EnumAttrCase<"maximum", 2>, I32EnumAttrCase<"minimum", 3>,
  I32EnumAttrCase<"maxnum", 4>, I32EnumAttrCase<"minnum", 5>,
  I32EnumAttrCase<"maxs", 6>, I32EnumAttrCase<"mins", 7>,
  I32EnumAttrCase<"maxu", 8>, I32EnumAttrCase<"minu", 9>,
  I32EnumAttrCase<"andi", 10>, I32EnumAttrCase<"ori", 11>,
  I32EnumAttrCase<"xori", 12>]>;
def NormFusion_CombinerAttr :
    EnumAttr<NormFusion_Dialect, NormFusion_Combiner, "combiner">;

def NormFusion_Structure : NormFusion_Enum<"Structure",
    "How a kernel walks the space", [
  I32EnumAttrCase<"ring", 0>, I32EnumAttrCase<"small", 1>,
  I32EnumAttrCase<"columns", 2>, I32EnumAttrCase<"rows", 3>,
  I32EnumAttrCase<"tile", 4>, I32EnumAttrCase<"plain", 5>]>;
def NormFusion_Copy : NormFusion_Enum<"Copy",
    "How rows reach a block", [
  I32EnumAttrCase<"cp_async", 0, "cp-async">, I32EnumAttrCase<"bulk", 1>,
  I32EnumAttrCase<"load", 2>, I32EnumAttrCase<"rows", 3>]>;
def NormFusion_Combine : NormFusion_Enum<"Combine",
    "How the partial accumulators of the blocks are merged", [
  I32EnumAttrCase<"tags", 0>, I32EnumAttrCase<"grid", 1>,
  I32EnumAttrCase<"kernel", 2>]>;

#endif // NORM_FUSION_ENUMS_TD
