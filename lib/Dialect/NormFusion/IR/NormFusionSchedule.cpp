//===- NormFusionSchedule.cpp - Text of the schedule attribute ------------===//
//
// `#norm_fusion.schedule<"k=v k=v">`: the attribute prints as the same text
// that the tools' --schedule option and the schedule pass take, and all three
// are read by the one parser here.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

std::string ScheduleAttr::getText() const {
  std::string text =
      llvm::formatv(
          "structure={0} cluster={1} warps={2} row-groups={3} slots={4} "
          "chunks={5} vector={6} copy={7} combine={8} pace={9} grid={10}",
          stringifyStructure(getStructure()), getCluster(), getWarps(),
          getRowGroups(), getSlots(), getChunks(), getVector(),
          stringifyCopy(getCopy()), stringifyCombine(getCombine()), getPace(),
          getGrid())
          .str();
  if (getLanes() != 32)
    text += llvm::formatv(" lanes={0}", getLanes()).str();
  if (getRows() != 1)
    text += llvm::formatv(" rows={0}", getRows()).str();
  if (getFrame() != 0)
    text += llvm::formatv(" frame={0}", getFrame()).str();
  if (getShifts() != 1)
    text += llvm::formatv(" shifts={0}", getShifts()).str();
  if (getTile() != 0)
    text += llvm::formatv(" tile={0}", getTile()).str();
  if (getAhead() != 0)
    text += llvm::formatv(" ahead={0}", getAhead()).str();
  if (getCopiesRowInputs())
    text += " row-inputs=copy";
  if (getCopiesEnds())
    text += " ends=copy";
  return text;
}

ScheduleAttr norm_fusion::parseSchedule(MLIRContext *context, StringRef text,
                                        ScheduleAttr base, std::string &error) {
  Structure structure = base ? base.getStructure() : Structure::plain;
  Copy copy = base ? base.getCopy() : Copy::load;
  Combine combine = base ? base.getCombine() : Combine::grid;
  unsigned cluster = base ? base.getCluster() : 1;
  unsigned warps = base ? base.getWarps() : 4;
  unsigned rowGroups = base ? base.getRowGroups() : 1;
  unsigned slots = base ? base.getSlots() : 1;
  unsigned chunks = base ? base.getChunks() : 1;
  unsigned vector = base ? base.getVector() : 1;
  unsigned pace = base ? base.getPace() : 0;
  unsigned grid = base ? base.getGrid() : 0;
  unsigned lanes = base ? base.getLanes() : 32;
  unsigned rows = base ? base.getRows() : 1;
  unsigned frame = base ? base.getFrame() : 0;
  unsigned tile = base ? base.getTile() : 0;
  unsigned ahead = base ? base.getAhead() : 0;
  unsigned shifts = base ? base.getShifts() : 1;
  bool copiesRowInputs = base && base.getCopiesRowInputs();
  bool copiesEnds = base && base.getCopiesEnds();

  SmallVector<StringRef> fields;
  llvm::SplitString(text, fields, " \t\n,");
  llvm::StringSet<> seen;
  for (StringRef field : fields) {
    auto [key, value] = field.split('=');
    if (!seen.insert(key).second) {
      error = llvm::formatv("schedule field '{0}' is given twice", key).str();
      return {};
    }
    // A choice by name.
    auto choice = [&](auto &target, auto parsed, StringRef accepted) {
      if (parsed) {
        target = *parsed;
        return true;
      }
      error =
          llvm::formatv("schedule field '{0}' is '{1}', expected one of {2}",
                        key, value, accepted)
              .str();
      return false;
    };
    // A number between `low` and `high`.
    auto number = [&](unsigned &target, unsigned low, unsigned high) {
      unsigned parsed;
      if (!value.getAsInteger(10, parsed) && parsed >= low && parsed <= high) {
        target = parsed;
        return true;
      }
      error = llvm::formatv("schedule field '{0}' is '{1}', expected a number "
                            "from {2} to {3}",
                            key, value, low, high)
                  .str();
      return false;
    };
    bool ok;
    if (key == "structure")
      ok = choice(structure, symbolizeStructure(value),
                  "ring, small, columns, rows, tile, plain");
    else if (key == "copy")
      ok = choice(copy, symbolizeCopy(value), "cp-async, bulk, rows, load");
    else if (key == "combine")
      ok = choice(combine, symbolizeCombine(value), "tags, grid, kernel");
    else if (key == "cluster")
      ok = number(cluster, 1, 16);
    else if (key == "warps")
      ok = number(warps, 1, 32);
    else if (key == "row-groups")
      ok = number(rowGroups, 1, 32);
    else if (key == "slots")
      ok = number(slots, 1, 16);
    else if (key == "chunks")
      ok = number(chunks, 1, 16);
    else if (key == "vector")
      ok = number(vector, 1, 16);
    else if (key == "pace")
      ok = number(pace, 0, 64);
    else if (key == "grid")
      ok = number(grid, 0, 1u << 20);
    else if (key == "lanes") {
      ok = number(lanes, 1, 32);
      if (ok && !llvm::isPowerOf2_32(lanes)) {
        error =
            llvm::formatv(
                "schedule field 'lanes' is {0}, expected a power of two", lanes)
                .str();
        ok = false;
      }
    } else if (key == "rows")
      ok = number(rows, 1, 16);
    else if (key == "frame")
      ok = number(frame, 0, 16);
    else if (key == "tile")
      ok = number(tile, 0, 128);
    else if (key == "ahead")
      ok = number(ahead, 0, 1);
    else if (key == "shifts")
      ok = number(shifts, 1, 2);
    else if (key == "row-inputs" || key == "ends")
      ok = choice(key == "ends" ? copiesEnds : copiesRowInputs,
                  llvm::StringSwitch<std::optional<bool>>(value)
                      .Case("load", false)
                      .Case("copy", true)
                      .Default(std::nullopt),
                  "load, copy");
    else {
      error = llvm::formatv(
                  "unknown schedule field '{0}', expected structure, "
                  "cluster, warps, row-groups, slots, chunks, vector, "
                  "lanes, rows, frame, shifts, tile, ahead, copy, row-inputs, "
                  "ends, combine, pace or grid",
                  key)
                  .str();
      return {};
    }
    if (!ok)
      return {};
  }
  if (warps * rowGroups > 32) {
    error = llvm::formatv("schedule has {0} warps a row x {1} row groups = {2} "
                          "threads a block, at most 1024 are possible",
                          warps, rowGroups, warps * rowGroups * 32)
                .str();
    return {};
  }
  // Pacing goes with tags: it leaves with them unless it is asked for.
  if (combine != Combine::tags && !seen.contains("pace"))
    pace = 0;
  // Frames go with asynchronous copies of vectors of this size.
  if ((copy == Copy::load || seen.contains("vector")) &&
      !seen.contains("frame"))
    frame = 0;
  // Only rows side by side in a warp are one piece.
  if (copy == Copy::rows && (structure != Structure::small || tile != 0) &&
      !seen.contains("copy"))
    copy = Copy::cp_async;
  // Copies of row inputs go with those of rows.
  if ((!copiesByLanes(copy) || !isRing(structure)) &&
      !seen.contains("row-inputs"))
    copiesRowInputs = false;
  // Copies of ends are those of their vectors.
  if ((copy != Copy::cp_async || !isRing(structure) ||
       seen.contains("vector")) &&
      !seen.contains("ends"))
    copiesEnds = false;
  if (!isRing(structure) && !seen.contains("tile"))
    tile = 0;
  // Steps ahead of their sums are of one row, copied and not paced.
  if ((structure != Structure::ring || copy == Copy::load || rows != 1 ||
       tile != 0 || pace != 0) &&
      !seen.contains("ahead"))
    ahead = 0;
  // Rows of two shifts come in a ring, one by one, in steps that are neither
  // ahead of their sums nor counted.
  if ((structure != Structure::ring || copy != Copy::cp_async || rows != 1 ||
       tile != 0 || ahead != 0 || pace != 0) &&
      !seen.contains("shifts"))
    shifts = 1;
  return ScheduleAttr::get(context, structure, cluster, warps, rowGroups, slots,
                           chunks, vector, copy, combine, pace, grid, lanes,
                           rows, frame, copiesRowInputs, tile, ahead,
                           copiesEnds, shifts);
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getText() << "\">";
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  std::string text, error;
  SMLoc loc;
  if (parser.parseLess())
    return {};
  loc = parser.getCurrentLocation();
  if (parser.parseString(&text) || parser.parseGreater())
    return {};
  ScheduleAttr schedule =
      parseSchedule(parser.getContext(), text, /*base=*/{}, error);
  if (!schedule)
    parser.emitError(loc, error);
  return schedule;
}
