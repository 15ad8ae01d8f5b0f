//===- NormFusionAttrs.td - Schedule and emulator target ---*- tablegen -*-===//
//
// `#norm_fusion.schedule`: what the schedule pass decided and the conversion to
// gpu reads. It prints as the string that the tools' --schedule option takes.
// `#norm_fusion.emulator_target`: a gpu.module target, implemented in
// lib/Target/Emulator.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_ATTRS_TD
#define NORM_FUSION_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "norm_fusion/Dialect/NormFusion/IR/NormFusionEnums.td"

def NormFusion_ScheduleAttr : AttrDef<NormFusion_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "How one mixed reduction is mapped to a kernel";
  let description = [{
    Fields, in the spelling of the attribute and of `--schedule`:

    | field | unit | meaning |
    |---|---|---|
    | `structure` | - | `ring`: rows held in registers, streamed through shared memory; `small`: a ring in which a warp holds several rows; `rows`: one block a row (`row-groups` rows), row reductions alone; `tile`: the same with an output in transposed order, through shared memory, and with several `slots` and `combine=tags` reductions of everything, too; `columns`: few rows, of which each block owns some columns; `plain`: masked loops, any size |
    | `cluster` | blocks | blocks that share a row |
    | `warps` | warps | warps of a block that share a row |
    | `row-groups` | rows | rows that a block works on at once |
    | `slots` | steps | of `rows` rows, in flight ahead of their use, a row group; `tile`: steps that fill a tile, the next ones in flight if there are several |
    | `chunks` | vectors | vectors of a row that a lane owns |
    | `vector` | elements | consecutive columns of a vector |
    | `lanes` | lanes | lanes of a warp that share a row; of `plain` 32, or 1 where a warp has 32 neighbouring rows, and the warps of a block share out their columns; printed unless 32 |
    | `rows` | rows | rows that a lane works on at once, whose sums are exchanged together; a tile has `row-groups` x `slots` times as many, the blocks of `columns` `row-groups` times; printed unless 1 |
    | `frame` | vectors | a ring's vectors begin at multiples of so many from an array's start, though rows begin anywhere, and a row group has rows of one shift (a launch with fewer row groups than shifts takes frames of a sector, 32 bytes, in place of larger ones); 0: they begin with the row, or where `vector` doesn't divide the columns at multiples of 2 (1 in clusters of more than two blocks, and with `copy=rows`, whose lanes have vectors from the first one on that is in the row); printed unless 0 |
    | `shifts` | shifts | 2: a framed ring's row group has rows of up to two shifts, one behind the other, so that all row groups have rows, of which there are half as many as shifts, or more; 1: of one shift, and row groups that no shift is left for have no rows; printed unless 1 |
    | `tile` | rows | neighbouring rows that a ring's block takes one step after the other, whose outputs in transposed order leave through shared memory together; 0: rows are dealt out one by one, and such outputs leave element by element; printed unless 0 |
    | `ahead` | steps | 1: a ring sends the row sums of the next step before it waits for those of this one, and reads a row from its slot again for what hangs on them rather than hold it in registers; 0: one step after the other; printed unless 0 |
    | `copy` | - | how a row reaches a block: `cp-async` (each lane copies its own vectors to shared memory, sm_80), `bulk` (rings: one lane copies what its warp holds of a row, sm_90), `rows` (`small`: the lanes of a warp copy its rows together, 8 or 16 bytes each, and store what is written in their order the same way, sm_80), `load` (to registers) |
    | `row-inputs` | - | how 4 and 8 byte inputs of the row level reach a ring's lanes: `load` (to registers, a step ahead, and waiting for that paces the steps), `copy` (with `copy=cp-async` or `rows`, by one lane of the row through the slots, as the row itself); printed unless `load` |
    | `ends` | - | how the elements of a framed row that are in no whole vector reach their lanes: `load` (to registers, a step ahead, and waiting for that paces the steps), `copy` (with `copy=cp-async`, through the slots, in vectors that the row has a part of; the array's last ones are loaded when they are needed); printed unless `load` |
    | `combine` | - | how partials are merged: `tags` (same launch, each word says whether it is new), `grid` (same launch, a barrier over the grid), `kernel` (a second launch); the first two need a cooperative launch, but for `tile`; of pairs of blocks whose rows are exchanged twice 64 are launched with `tags` where a device runs up to 68 |
    | `pace` | steps | soft lockstep of the blocks; 0: none |
    | `grid` | blocks | that the rows are dealt out to; a device that holds fewer at once gives a block the rows of several, and doesn't pace them; at most 2^20, and in rings as many as rows in 32 bits allow. 0: one a multiprocessor of the device found at launch; without column reductions, as many as there are rows, but for rings and tiles of several steps: as many as run at once. Under `columns` the blocks share the columns, at most so many |

    ```mlir
    #norm_fusion.schedule<"structure=ring cluster=1 warps=8 row-groups=2 slots=2 chunks=2 vector=8 copy=cp-async combine=grid pace=0 grid=0">
    ```
  }];
  let parameters = (ins
    "Structure":$structure, "unsigned":$cluster, "unsigned":$warps,
    "unsigned":$rowGroups, "unsigned":$slots, "unsigned":$chunks,
    "unsigned":$vector, "Copy":$copy, "Combine":$combine, "unsigned":$pace,
    "unsigned":$grid, "unsigned":$lanes, "unsigned":$rows, "unsigned":$frame,
    "bool":$copiesRowInputs, "unsigned":$tile, "unsigned":$ahead,
    "bool":$copiesEnds, "unsigned":$shifts);
  let builders = [AttrBuilder<(ins
    "Structure":$structure, "unsigned":$cluster, "unsigned":$warps,
    "unsigned":$rowGroups, "unsigned":$slots, "unsigned":$chunks,
    "unsigned":$vector, "Copy":$copy, "Combine":$combine, "unsigned":$pace,
    "unsigned":$grid, "unsigned":$lanes, "unsigned":$rows, "unsigned":$frame), [{
    return $_get($_ctxt, structure, cluster, warps, rowGroups, slots, chunks,
                 vector, copy, combine, pace, grid, lanes, rows, frame,
                 /*copiesRowInputs=*/false, /*tile=*/0, /*ahead=*/0,
                 /*copiesEnds=*/false, /*shifts=*/1);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The fields as `k=v k=v`: the text of the attribute and of --schedule.
    std::string getText() const;
    /// Threads of a block.
    unsigned getThreads() const {
      return getWarps() * getRowGroups() * 32;
    }
    /// Rows side by side in a warp.
    unsigned getRowsAWarp() const { return 32 / getLanes(); }
    /// Neighbouring rows that a row group takes in one step. (The `rows` of a
    /// ring are as far apart as those of its steps.)
    unsigned getRowsAStep() const {
      return getStructure() == Structure::ring ? 1
                                               : getRowsAWarp() * getRows();
    }
    /// Columns that the lanes of a block hold.
    unsigned getBlockColumns() const {
      return getWarps() * getChunks() * getLanes() * getVector();
    }
  }];
}

def NormFusion_FewRowsAttr : AttrDef<NormFusion_Dialect, "FewRows"> {
  let mnemonic = "few_rows";
  let summary = "A schedule for launches with few rows";
  let description = [{
    `rows`: the rows that a column reduction reduces, at most so many.
    `schedule`: what such a launch takes in place of the op's schedule, if it is
    possible there as any schedule is. Of clusters of more than eight blocks,
    which are fewer on some devices, nine tenths as many blocks must run at once
    as of the op's schedule.

    ```mlir
    #norm_fusion.few_rows<rows = 32, schedule = <"structure=columns cluster=1 warps=1 row-groups=16 slots=1 chunks=2 vector=4 copy=load combine=tags pace=0 grid=0 rows=2">>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "ScheduleAttr":$schedule);
  let assemblyFormat = "`<` struct(params) `>`";
}

def NormFusion_FewRowsArrayAttr
    : TypedArrayAttrBase<NormFusion_FewRowsAttr, "schedules for few rows">;

def NormFusion_EmulatorTargetAttr
    : AttrDef<NormFusion_Dialect, "EmulatorTarget"> {
  let mnemonic = "emulator_target";
  let summary = "Compile a gpu.module for the emulator";
  let description = [{
    A target of `gpu.module`, beside `#nvvm.target`: `gpu-module-to-binary`
    compiles the same NVVM-dialect module to an object file of the host, whose
    NVVM ops are calls of the emulator.

    `cpu` is the host CPU to compile for, as LLVM names it; empty: this one.

    ```mlir
    gpu.module @kernels [#norm_fusion.emulator_target] { ... }
    gpu.module @kernels [#norm_fusion.emulator_target<cpu = "x86-64-v3">] { ... }
    ```
  }];
  let parameters = (ins StringRefParameter<"host CPU", [{""}]>:$cpu);
  let builders = [AttrBuilder<(ins), [{
    return $_get($_ctxt, ::llvm::StringRef());
  }]>];
  let assemblyFormat = "(`<` struct($cpu)^ `>`)?";
}

#endif // NORM_FUSION_ATTRS_TD
