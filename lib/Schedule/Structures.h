//===- Structures.h - What the structures' schedules share ------*- C++ -*-===//
//
// Between the files of this library: each structure has its choice in a file of
// its own.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_SCHEDULE_STRUCTURES_H
#define NORM_FUSION_LIB_SCHEDULE_STRUCTURES_H

#include "norm_fusion/Schedule/Schedule.h"

namespace mlir::norm_fusion {

/// Columns of a vector: of 16 bytes of the narrowest type of two bytes or more,
/// or the largest part of it that divides the columns.
unsigned getVector(const Problem &problem);

/// Vectors of `vector` columns that hold a row; at least one.
int64_t getVectors(const Problem &problem, unsigned vector);

/// Columns of 16 bytes of the narrowest type of two bytes or more.
unsigned getFullVector(const Problem &problem);

/// True of vectors of one 32-bit element, with none narrower beside it.
bool areSingleWords(const Problem &problem, unsigned vector);

/// Rows that are so many apart begin at the same column of a frame.
unsigned getShiftPeriod(const Problem &problem, ScheduleAttr schedule);

/// 32-bit registers that a thread needs, estimated for the ring.
unsigned estimateRegisters(const Problem &problem, ScheduleAttr schedule);

/// Those that it can have, 32-bit.
unsigned getRegisterBudget(const TargetInfo &target, ScheduleAttr schedule);

/// isLegalSchedule() without the reason.
bool isLegal(const Problem &problem, ScheduleAttr schedule,
             const TargetInfo &target);

/// True if `schedule` is possible, and leaves threads the registers that they
/// are estimated to need.
bool fits(const Problem &problem, ScheduleAttr schedule,
          const TargetInfo &target);

/// `schedule` with the fields in `text`.
ScheduleAttr change(ScheduleAttr schedule, StringRef text);

/// Steps that a row group of a cluster may be ahead of the others' average.
/// One is too tight for LayerNorm's steps, four lets RMSNorm's drift (H200,
/// 32768x4096 and 65536x8192 bf16, docs/performance.md).
inline constexpr unsigned kPace = 2;

/// Rows of more vectors than these are wide.
inline constexpr int64_t kWideVectors = 512;

/// Warps of a block in which a thread has the registers for three vectors and
/// two sums a column, or for two rows of three half vectors.
inline constexpr unsigned kManyWarps = 12;

/// True if a lane adds up two and more sums a column.
bool isHeavy(const Problem &problem);

/// True if two arrays are read, of elements of 2 or 4 `bytes`.
bool readsTwoOf(const Problem &problem, unsigned bytes);

/// True for framed rows of 16-bit elements, two whole vectors a lane in 12
/// warps of a block, or with two sums a column in up to 12 with a row each.
bool areTwoInFrames(const Problem &problem, ScheduleAttr schedule);

/// Bytes of the rows that a multiprocessor has on their way, without those of
/// lanes that have no columns.
int64_t getBytesInFlight(const Problem &problem, ScheduleAttr schedule);

/// Vectors of a lane that the last warp of a row of one block has columns for.
int64_t countLastChunks(const Problem &problem, ScheduleAttr schedule);

/// Bytes in flight of all multiprocessors, those without rows too, over their
/// number.
double getMeanInFlight(const Problem &problem, ScheduleAttr schedule,
                       const TargetInfo &target);

/// Those that single blocks have at most while row groups can be left out.
double getMostInFlight(const Problem &problem, const TargetInfo &target);

/// What any problem can have: a row a block, or a lane where rows are
/// contiguous.
ScheduleAttr makePlain(MLIRContext *context, const Problem &problem);

/// A ring with `chunks` vectors a lane, not paced, its row inputs loaded.
ScheduleAttr makeRing(MLIRContext *context, unsigned cluster, unsigned warps,
                      unsigned groups, unsigned slots, unsigned chunks,
                      unsigned vector, Combine combine, unsigned frame,
                      unsigned ahead = 0);

/// `schedule`, with row-inputs=load where it would copy none.
ScheduleAttr normalizeRowInputs(const Problem &problem, ScheduleAttr schedule);

/// structure=ring or small, else plain; why in `reason`.
ScheduleAttr chooseRing(MLIRContext *context, const Problem &problem,
                        const TargetInfo &target, std::string &reason);

/// The same, without the shapes of uneven rows (chooseUnevenRows()).
ScheduleAttr chooseUsualRing(MLIRContext *context, const Problem &problem,
                             const TargetInfo &target, std::string &reason);

/// `schedule`, a ring whose shape is chosen, with its combination, row groups,
/// row inputs and rows at once; `reason` anew where these are two.
ScheduleAttr chooseSteps(const Problem &problem, ScheduleAttr schedule,
                         const TargetInfo &target, std::string &reason);

/// True if rows don't all begin at a sector of the L2 cache if the first one
/// does, and vectors of `vector` columns of the narrowest type are half of one.
/// (Smaller ones gain nothing.)
bool mayGainByFrames(const Problem &problem, unsigned vector);

/// Vectors of `vector` columns, of the narrowest type, in such a sector.
unsigned getSectorVectors(const Problem &problem, unsigned vector);

/// True of two arrays of 16 bits and one or two sums of 32 a column: others
/// have other registers, and weren't measured with three vectors a lane and
/// more.
bool takesManyVectors(const Problem &problem);

/// Of the bytes in flight that memory needs, what few rows of a block have at
/// most, on the mean: with more memory is slower. (H200, LayerNorm 4608 columns
/// in pairs of blocks, 1.12, 600 MB, us: 143.7 -> 153.9. In single blocks whose
/// rows aren't framed less is too much: 2592, 0.95, 146.0 -> 153.0.)
inline constexpr double kMostOfFewRows = 1.02;

/// Warps of a block that four vectors a lane leave the registers for.
inline constexpr unsigned kFramedWarps = 8;

/// Vectors of a row that four warps' lanes hold two, three and five each of.
inline constexpr int64_t kTwoVectors = 4 * 32 * 2, kThreeVectors = 4 * 32 * 3,
                         kFiveVectors = 4 * 32 * 5;

/// Vectors of a row that pairs of blocks hold, four a lane.
inline constexpr int64_t kPairVectors = 2 * kFramedWarps * 32 * 4;

/// Of the bytes in flight that memory needs, what two steps of framed rows, one
/// to a block, have at most where a third one gains (chooseEnds()).
inline constexpr double kMostOfTwoSteps = 0.64;

/// Bytes of the narrowest element of the full-size arrays; 4 if there are none.
unsigned getNarrowest(const Problem &problem);

/// True if two steps of `rows` rows of one block have more than `share` of the
/// bytes in flight that memory needs.
bool haveMore(const Problem &problem, const TargetInfo &target, unsigned rows,
              double share);

/// True if so few rows don't have more than memory serves well.
bool serveMemory(const Problem &problem, const TargetInfo &target,
                 unsigned rows);

/// True if two rows of five vectors a lane leave at most a quarter of the lanes
/// idle. For one sum a column.
bool takesFiveVectors(const Problem &problem, const TargetInfo &target);

/// `schedule` with frames of `frame` vectors.
ScheduleAttr withFrame(ScheduleAttr schedule, unsigned frame);

/// True if framed rows with one sum a column that `warps` hold with two vectors
/// a lane are better off with three or five: more rows of one block, or fewer
/// blocks.
bool gainsByMoreVectors(const Problem &problem, const TargetInfo &target,
                        unsigned warps);

/// True if `vector` columns, the most that divide a row, are half of a full
/// vector, and lanes are better off with full ones in frames.
bool gainsByFullVectors(const Problem &problem, unsigned vector);

/// `schedule`, a ring, with frames of a sector where rows don't begin at one
/// and that pays.
ScheduleAttr chooseFrame(const Problem &problem, ScheduleAttr schedule,
                         const TargetInfo &target);

/// Framed rows of up to three warps, or several a warp: as one piece, or the
/// vectors, whole or half, and lanes that hold the fewest columns too many.
/// Null if there is none.
ScheduleAttr chooseShortFrames(MLIRContext *context, const Problem &problem,
                               const TargetInfo &target, Combine combine,
                               std::string &reason);

/// Two rows of three half vectors a lane at once in place of `schedule`'s one,
/// and a warp's rows copied and stored as one piece, where that is better; why
/// in `reason`.
ScheduleAttr chooseTwoRows(const Problem &problem, ScheduleAttr schedule,
                           const TargetInfo &target, std::string &reason);
ScheduleAttr choosePieces(const Problem &problem, ScheduleAttr schedule,
                          const TargetInfo &target, std::string &reason);

/// Of the bytes in flight that memory needs, those up to which a warp's rows in
/// one piece, two a lane at once, with two sums a column, have their row inputs
/// copied. (H200, LayerNorm, 200 and 600 MB, us, loads and copies: 53 columns
/// 55.8, 163.9 and 52.5, 158.4; 59 53.2, 154.2 and 50.8, 149.3; 65 52.2
/// and 51.1; 66 51.3, 147.9 and 51.0, 145.2; 68 52.4, 149.6 and 50.5, 144.8;
/// but 70 52.8 and 53.5, 76 50.7 and 52.0, 79 51.5 and 52.3.)
inline constexpr double kCopiesOfTwo = 0.8;

/// Framed rows side by side in a warp, as one piece, of two arrays alike of 16
/// or 32 bits: lanes, warps and steps that have as much in flight as serves
/// memory best. Null for others.
ScheduleAttr chooseFramedPieces(MLIRContext *context, const Problem &problem,
                                const TargetInfo &target, Combine combine,
                                std::string &reason);

/// Rows with room for a frame, three vectors a lane in a block of 12 warps or
/// four in a pair of blocks, where two accumulators a column leave other shapes
/// more idle lanes or fewer warps; with one accumulator, pairs where a row is
/// little more than four warps hold, and three or five vectors in one block
/// where that isn't too much in flight. Null if there is none.
ScheduleAttr chooseManyVectors(MLIRContext *context, const Problem &problem,
                               const TargetInfo &target, Combine combine,
                               std::string &reason);

/// `schedule`, or if that is of framed rows that have more in flight than
/// memory needs, 12 warps with two vectors a lane in blocks that share a row,
/// which have less; why in `reason`.
ScheduleAttr limitFrames(MLIRContext *context, const Problem &problem,
                         ScheduleAttr schedule, const TargetInfo &target,
                         std::string &reason);

/// `most` with as many of its steps in flight as are possible; why in `reason`.
/// Null if none is, or lanes don't have the registers.
ScheduleAttr fitSlots(const Problem &problem, ScheduleAttr most,
                      const TargetInfo &target, std::string &reason);

/// The part of a device's row groups that have rows: framed ones have those of
/// one shift alone.
double getBusyShare(const Problem &problem, ScheduleAttr schedule,
                    const TargetInfo &target);

/// `schedule`, or if that leaves much of the device without framed rows, one
/// whose row groups have rows of two shifts; why in `reason`.
ScheduleAttr chooseTwoShifts(const Problem &problem, ScheduleAttr schedule,
                             const TargetInfo &target, std::string &reason);

/// Rows of several warps, of two arrays alike of 16 or 32 bits, with room for
/// frames of a sector if `framed`, in the first shape of 8 to 16 warps a block
/// that leaves few lanes idle; why in `reason`. Null where none does, or
/// registers don't suffice.
ScheduleAttr chooseManyWarps(MLIRContext *context, const Problem &problem,
                             const TargetInfo &target, unsigned vector,
                             bool framed, Combine combine, std::string &reason);

/// For so few rows of 32-bit elements that they are a few steps, what takes
/// less than `schedule`; null if nothing does.
ScheduleAttr chooseManyWarpsOfFewRows(const Problem &problem,
                                      const TargetInfo &target,
                                      ScheduleAttr schedule);

/// Rows that wait for row sums more than once, in place of the `usual` ring;
/// why in `reason`. Null where that is as good.
ScheduleAttr chooseMoreExchanges(const Problem &problem,
                                 const TargetInfo &target, ScheduleAttr usual,
                                 std::string &reason);

/// Wide rows with `scale` times four vectors of `vector` columns a lane,
/// in clusters whose blocks have room for `frame` vectors more; why in
/// `reason`. Null where lanes don't have the registers, or clusters don't hold
/// a row.
ScheduleAttr chooseWideRows(MLIRContext *context, const Problem &problem,
                            const TargetInfo &target, unsigned vector,
                            unsigned scale, unsigned frame, Combine combine,
                            std::string &reason);

/// Rows of 16-bit elements and two sums a column that don't all begin with a
/// line, in few parts; why in `reason`. Null for others, and where the usual
/// shapes are as good.
ScheduleAttr chooseUnevenRows(MLIRContext *context, const Problem &problem,
                              const TargetInfo &target, std::string &reason);

/// What few of them take in place of `schedule`, if that is
/// chooseUnevenRows()'s and loses there; null otherwise.
ScheduleAttr chooseUnevenOfFewRows(const Problem &problem,
                                   const TargetInfo &target,
                                   ScheduleAttr schedule);

/// Framed rows of several warps with three to five vectors a lane: those that
/// keep most bytes in flight, or enough, ahead of their sums if `mayBeAhead`.
/// Null if no cluster holds a row.
ScheduleAttr chooseWideFrames(MLIRContext *context, const Problem &problem,
                              const TargetInfo &target, Combine combine,
                              std::string &reason, bool mayBeAhead = true);

/// One block a row (structure=rows); null and why in `reason` where a row
/// doesn't fit.
ScheduleAttr chooseRows(MLIRContext *context, const Problem &problem,
                        const TargetInfo &target, std::string &reason);

/// Tiles of rows (structure=tile), for transposed outputs; null and why in
/// `reason` where there is none.
ScheduleAttr chooseTile(MLIRContext *context, const Problem &problem,
                        const TargetInfo &target, std::string &reason);

/// `schedule`, a ring, with tiles of rows where outputs are in transposed order
/// and a tile fits, or as it is.
ScheduleAttr chooseRingTile(const Problem &problem, ScheduleAttr schedule,
                            const TargetInfo &target);

/// What tiles need, of a ring or of structure=tile.
bool isLegalTile(const Problem &problem, ScheduleAttr schedule,
                 std::string &error);

/// Columns of all rows a block (structure=columns); null and why in `reason`
/// where a block doesn't hold them.
ScheduleAttr chooseColumns(MLIRContext *context, const Problem &problem,
                           const TargetInfo &target, std::string &reason);

/// The same where blocks that own columns are the fastest for as few rows as
/// they hold at once (row-groups x rows); else null.
ScheduleAttr chooseColumnsOfFewRows(MLIRContext *context,
                                    const Problem &problem,
                                    const TargetInfo &target);

/// What structure=columns needs beyond contiguous static columns.
bool isLegalColumns(const Problem &problem, ScheduleAttr schedule,
                    std::string &error);

/// What structure=rows and structure=tile need beyond contiguous static
/// columns.
bool isLegalRows(const Problem &problem, ScheduleAttr schedule,
                 const TargetInfo &target, std::string &error);

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_LIB_SCHEDULE_STRUCTURES_H
