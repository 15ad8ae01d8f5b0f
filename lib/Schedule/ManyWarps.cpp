//===- ManyWarps.cpp - Rows in many warps, few vectors a lane -------------===//
//
// Tables of the shapes in which 8 to 16 warps of each block of a cluster hold
// rows with few vectors a lane, and the choice from them. Twice as many warps
// take a row as where lanes hold four (WideRows.cpp): more row groups share the
// steps of short walks, and blocks of a large cluster have little of a partial
// row each. Rows in frames (Frames.cpp) have tables of their own, with up to
// five vectors. The numbers were measured on an H200 (docs/performance.md).
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::norm_fusion;

namespace {
/// The sums a column, one to a result, that a shape is for.
enum Sums { anySums, oneSum, moreSums };

/// How the blocks of a cluster may share a row: lanes with `chunks` vectors
/// each, `fewestWarps` to `mostWarps` of each block for a row, as many row
/// groups as `blockWarps` have warps for, of `fewestOfBlock` and more in all,
/// at most one of `lanesOfIdle` lanes without columns, and rows of a multiple
/// of `multiple` vectors. Frames are of half a sector if `halves`; row inputs
/// are copied, and steps not paced, if `copies`.
struct Shape {
  unsigned chunks, cluster, fewestWarps, mostWarps, blockWarps, fewestOfBlock,
      lanesOfIdle;
  Sums sums = anySums;
  unsigned multiple = 1;
  bool halves = false, copies = false;
};
constexpr unsigned kNoneIdle = std::numeric_limits<unsigned>::max();
} // namespace

/// Rows of 32-bit elements. (H200, f32, 25, 75, 200 and 600 MB, in place of 8
/// warps of four vectors or of one row in sixteen blocks, us. Two vectors,
/// LayerNorm: 4096 columns 9.3, 21.2, 50.0, 143.2 -> 9.0, 21.0, 49.9, 142.9;
/// 6144 9.1, 21.5, 50.6, 143.9 -> 9.0, 21.3, 49.9, 141.4; RMSNorm 10000 9.0,
/// 21.5, 50.6, 142.4 -> 8.8, 21.1, 49.7, 140.5. Three, LayerNorm: 2304, c2 9.2,
/// 21.0, 50.2, 143.1 -> 9.0, 20.4, 49.3, 140.9; 4608, c4 9.4, 21.1, 50.4, 143.5
/// -> 9.1, 20.6, 49.1, 140.6; 5632 9.4, 21.2, 50.5, 144.8 -> 9.3, 20.8, 49.4,
/// 140.5; 8704 10.4, 22.2, 51.4, 146.1 -> 9.5, 21.1, 49.6, 141.3; 11264 9.9,
/// 21.8, 51.0, 145.2 -> 9.8, 21.3, 49.9, 141.1; 13200, c6 10.1, 22.0, 51.4,
/// 145.2 -> 9.9, 21.5, 50.3, 143.2; 18432 9.9, 21.4, 50.0, 147.4 -> 9.9, 21.3,
/// 49.6, 140.6; 24576, c16 10.5, 21.8, 50.1, 148.1 -> 10.0, 21.2, 50.1, 141.6;
/// 28672 10.6, 22.4, 50.7, 148.2 -> 9.9, 21.7, 50.4, 141.8; 36864, c16 11.1,
/// 24.8, 57.9, 166.0 -> 10.3, 21.8, 50.5, 142.3. Four in sixteen blocks: 40960
/// 11.0, 23.8, 56.3, 159.6 -> 10.9, 22.1, 50.6, 142.6; 49152 10.3, 23.0, 54.0,
/// 153.4 -> 10.7, 22.4, 51.0, 143.4. RMSNorm gains a half to three quarters of
/// that. Three in eleven warps of one row in eight blocks lose: 32768 10.1,
/// 21.8, 50.7 -> 12.4, 23.4, 51.7; two in sixteen gain, in place of three in
/// sixteen blocks, 9.2, 20.7, 49.6, 142.1 -> 9.3, 20.4, 48.8, 140.2, 28672 9.0,
/// 20.6, 49.3 -> 8.9, 20.4, 49.3, but 24576 9.1, 20.7, 49.8 -> 9.0, 20.8, 50.6;
/// pairs of blocks gain RMSNorm nothing: 2816 20.1 and 20.3. Twelve warps in
/// place of fifteen, with copies of row inputs, LayerNorm: 3000 8.8, 20.2,
/// 49.1, 141.9 -> 8.5, 20.0, 49.1, 142.3; 6144 8.6, 20.2, 49.1, 141.0 -> 8.4,
/// 20.1, 48.8, 141.5; but ten in place of fifteen 5000 8.9, 20.7, 49.5 -> 9.3,
/// 21.6, 52.7, and twelve in place of sixteen 8192 8.5, 20.1, 48.8 -> 8.6,
/// 20.3, 49.8. Two warps of eight blocks, copies, not paced, in place of four
/// blocks and of six, and of loads that are paced: 5000 8.8, 20.4, 49.0, 140.7
/// -> 8.6, 20.5, 49.2, 143.6; 5120 8.6, 20.1, 48.4, 139.6 -> 8.4, 20.0, 48.9,
/// 145.8; 5376 8.9, 20.5, 50.1, 144.8 -> 8.5, 20.0, 48.7, 146.7;
/// 5632 8.7, 20.3, 48.8, 140.2 -> 8.4, 20.0, 48.7, 146.7; on an H100, 200 and
/// 600 MB, 5376 51.2, 149.3 -> 48.0, 138.5, 5632 48.1, 139.5 -> 47.8, 138.2.
/// Two and three warps of three to five blocks gain on an H200 and lose on an
/// H100, 25 and 200 MB: 2560 8.5, 48.9 -> 8.2, 48.8 and 8.4, 49.3 -> 8.4, 50.7;
/// 2816 8.9, 49.1 -> 8.3, 48.9 and 8.4, 47.6 -> 8.5, 51.4.)
// clang-format off
static constexpr Shape kWords[] = {
    // chunks, cluster, warps of a row, of a block, one lane of so many idle
    {2,  8, 3,  3, 12, 12, 16, moreSums},
    {2,  8, 1,  8, 16, 15, 16},
    {2,  4, 3,  3, 12, 12, 16, moreSums},
    {3,  8, 2,  2, 12, 12,  5, moreSums, 1, false, /*copies=*/true},
    {2,  4, 1,  8, 16, 15, 16},
    {2,  8, 14, 16, 16, 14, 16, moreSums},
    {3,  8, 2, 10, 12,  9,  9},
    {3,  4, 3,  4, 12,  9,  9},
    {3,  2, 3,  4, 12,  9,  9, moreSums},
    {3,  6, 5,  6, 12,  9,  9},
    {2,  6, 1,  8, 16, 15, 16},
    {3, 16, 4, 10, 12,  9,  9},
    {4, 16, 5,  8, 12,  8,  6}};
// clang-format on

/// Few rows of 32-bit elements with two sums a column, which are a few steps:
/// their number counts there, and how much is left to add up behind them.
/// (H200, f32 LayerNorm, 25 MB, us, in place of the schedule for any number of
/// rows, not paced and with copies of row inputs. 2304 columns: 8.63 and 8.42;
/// 2816: 8.73 and 8.37; 9504: 9.00 and 8.64; 10752: 9.22 and 8.76; 13312: 8.94
/// and 8.82; 14336: 8.80 and 8.61; in clusters of sixteen, of which the device
/// runs seven, 15 of eight: 11776 8.67 and 8.57; 12288: 8.71 and 8.61; 15360:
/// 8.80 and 8.51; 16384: 8.71 and 8.67; 17408: 9.02 and 8.80; 18432: 9.12 and
/// 8.60; 19456: 9.35 and 8.78; 20480: 9.37 and 8.70; 22528: 9.09 and 8.90; but
/// 11264: 8.60 and 8.76; 10000: 8.86 and 8.83.)
// clang-format off
static constexpr Shape kFewWords[] = {
    {2,  1, 11, 11, 11, 11, 16, moreSums},
    {2,  5,  2,  2, 12, 12,  9, moreSums},
    {2,  7,  8,  8, 16, 16, 13, moreSums},
    {3,  7,  4,  4, 12, 12,  8, moreSums},
    {2, 16,  3,  5, 16, 15, 16, moreSums},
    {3, 16,  3,  4, 12, 12, 12, moreSums}};
// clang-format on

/// Rows of 16-bit elements with one sum a column. (H200, bf16, RMSNorm, us. Two
/// vectors, 12.5, 50, 200, 400 and 800 MB: 4608 columns, c3 6.1, 15.2, 49.7,
/// 95.6, 187.3 -> 6.1, 14.8, 48.9, 94.4, 185.6; 6144, c4 6.4, 14.9, 49.7, 94.9,
/// 186.3 -> 5.7, 14.6, 49.0, 95.0, 190.3; 8192, c8 6.4, 15.2, 49.9, 95.3, 187.5
/// -> 6.4, 14.9, 49.4, 95.0, 185.6; up to 4096 columns nothing is gained.
/// Three, 25, 75 and 200 MB: 17408 10.0, 21.7, 50.5 -> 9.1, 20.9, 49.6; 22528
/// 10.0, 21.8, 50.6 -> 9.4, 21.1, 49.6; 36864 11.3, 23.5, 58.7 -> 9.4, 21.1,
/// 49.7; 45056, c16 11.3, 23.1, 54.1 -> 9.7, 21.5, 50.5; 57344 10.7, 22.3, 50.4
/// -> 9.8, 21.2, 49.7; 61440 11.3, 22.6, 51.3 -> 9.6, 21.1, 49.6; 65536, c16
/// 10.3, 22.0, 51.0 -> 10.0, 21.8, 50.7; two warps, 11264, 9.6, 21.3, 50.1
/// -> 9.3, 21.0, 49.8, but 4096x12288 73.0 -> 75.6. Four warps whose blocks'
/// parts aren't alike, or begin within a sector, spill four bytes: 22800,
/// 46240. Three vectors in three warps of each of few blocks, in place of four
/// in 8 warps, 200 and 600 MB: 8448 50.4, 144.9 -> 50.2, 142.3; 11008 50.5,
/// 145.1 -> 49.8, 141.8; 11520 50.2, 143.0 -> 49.6, 141.9; but c3 6400 49.9,
/// 143.6 -> 50.5, 141.9; 6912 49.9, 141.1 -> 50.3, 142.1; c6 13312 49.9, 142.2
/// -> 51.1, 141.7; one block, in place of two vectors in six warps, 2592 50.1,
/// 143.8 -> 49.8, 150.6; 3392 50.8, 145.1 -> 49.8, 146.7; 3680 49.3, 142.6
/// -> 50.1, 146.9.)
// clang-format off
static constexpr Shape kLightHalves[] = {
    {2,  8, 2,  2, 16, 15, 32},
    {2,  5, 2,  2, 16, 15, 32},
    {2,  4, 3,  3, 12, 12, 32},
    {2,  3, 3,  3, 12, 12, 16},
    {3,  8, 3,  3, 12,  9, 12},
    {3,  8, 4,  4, 12,  9, 12, anySums, /*multiple=*/2 * 8},
    {3,  8, 5, 10, 12,  9, 12},
    {3, 16, 4,  4, 12,  9,  6, anySums, /*multiple=*/2 * 16},
    {3, 16, 5,  6, 12,  9,  6},
    {3,  4, 3,  3, 12, 12, 10},
    {3,  5, 3,  3, 12, 12, 10}};
// clang-format on

/// Rows of 16-bit elements with two sums a column, whose registers don't
/// suffice for three vectors and masks of idle lanes. (H200, bf16, LayerNorm,
/// us. Two vectors, 12.5, 50, 200, 400 and 800 MB: 3072 columns, c2 7.0, 15.8,
/// 50.3, 96.1, 188.3 -> 6.8, 15.5, 49.8, 95.4, 186.8; 4096, c4 7.3, 16.0, 50.2,
/// 95.7, 187.2 -> 6.5, 15.4, 49.8, 96.0, 189.6; 6144, c4 7.3, 15.9, 50.0, 95.8,
/// 186.5 -> 6.7, 15.5, 49.9, 96.0, 189.1; 8192, c8 7.6, 16.2, 50.6, 95.9, 187.0
/// -> 7.7, 16.0, 50.3, 95.4, 186.3; 12288, c8 7.5, 16.2, 50.8, 97.2, 189.6
/// -> 7.7, 16.0, 50.6, 95.8, 186.5; a sixteenth of the lanes of four blocks
/// idle, 3840, 200 MB, 49.9 -> 50.5. Three, 25, 75, 200 and 600 MB: 18432 11.3,
/// 22.7, 51.6, 145.4 -> 11.0, 22.4, 51.2, 142.6; 24576 11.2, 22.4, 51.3, 145.2
/// -> 10.8, 22.4, 51.0, 142.7; 36864, c16 13.5, 28.4, 64.4, 179.8 -> 10.8,
/// 22.9, 51.4, 143.5; 49152, c16 12.5, 24.6, 53.5, 149.0 -> 11.3, 23.0, 52.0,
/// 143.4; 61440 14.7, 25.6, 54.0, 145.7 -> 12.0, 23.6, 51.8, 143.6; with masks
/// 16384 10.6, 22.1, 50.5, 141.9 -> 11.4, 24.8, 58.4, 164.9. In few
/// blocks, in place of four in 8 warps, 200 and 600 MB: 11264 51.8, 147.7
/// -> 51.1, 142.3; 12160 51.1, 144.2 -> 51.4, 143.1; but c3, which spills 12
/// bytes, 6656 51.4, 145.5 -> 51.2, 143.1, 9216 51.0, 144.3 -> 51.3, 143.3; one
/// block, 2592 51.4, 146.0 -> 50.3, 153.0, 2688 50.4, 144.3 -> 50.0,
/// 150.1.)
// clang-format off
static constexpr Shape kHeavyHalves[] = {
    {2,  8,  2,  3, 16, 15, 32},
    {2,  5,  2,  3, 16, 15, 32},
    {2,  4,  2,  3, 12, 12, 32},
    {2,  2,  3,  3, 12, 12, 16},
    {3, 16,  3,  4, 12,  9, kNoneIdle},
    {3,  8,  2,  4, 12,  9, kNoneIdle},
    {3,  8, 10, 10, 12,  9, kNoneIdle},
    {3,  4,  4,  4, 12, 12, 10}};
// clang-format on

/// Rows of 32-bit elements in frames, which begin anywhere, in place of 8 warps
/// of four vectors (Frames.cpp). (H200, f32, 25, 75, 200 and 600 MB, us,
/// LayerNorm: 6501 columns 10.5, 23.0, 52.9, 147.6 -> 10.0, 21.7, 50.9, 143.7;
/// 7009 10.7, 22.8, 52.6, 145.1 -> 9.8, 21.9, 51.6, 144.3; 12001 11.2, 24.1,
/// 56.1, 156.2 -> 10.3, 22.0, 51.7, 147.4; 14009 10.9, 23.3, 55.5, 157.2
/// -> 10.6, 22.3, 52.2, 143.8; 16009 11.0, 23.9, 56.0, 157.5 -> 10.4, 22.4,
/// 52.5, 146.7; 20001 11.5, 24.3, 55.3, 153.5 -> 10.5, 22.5, 52.7, 142.8; 21009
/// 13.2, 25.4, 57.4, 156.8 -> 11.1, 22.8, 53.4, 151.3; 26001 13.4, 26.9, 61.1,
/// 166.3 -> 11.0, 24.1, 55.2, 155.6; 33001 17.8, 44.3, 112.1, 323.4 -> 12.2,
/// 24.9, 57.9, 154.2; 61441 17.3, 39.9, 98.2, 275.9 -> 14.8, 32.4, 76.6, 215.2;
/// one row in six blocks in place of these shapes of sixteen, 75, 200 and 600
/// MB, 26001 22.9, 53.7, 152.1 -> 21.5, 50.8, 143.7; 28501 22.7, 53.3 -> 21.9,
/// 51.2; 33001 24.2, 54.6, 156.1 -> 22.7, 51.0, 146.0; 37001 24.2, 56.2
/// -> 22.9, 53.0; 41001 24.2, 56.2 -> 23.7, 53.7; 45001 24.6, 57.2, 162.4
/// -> 24.0, 52.9, 143.8 (but 25 MB 11.9 -> 12.6); in seven 53001 31.3, 77.1
/// -> 26.2, 58.6, and 28.1, 64.8 in frames of a sector; where the last block
/// has few columns they lose, 39001 in twelve warps 24.0, 56.1 -> 27.0, 64.5;
/// but 24509 11.2, 23.2, 54.3, 149.4 -> 10.8, 23.0, 54.2, 153.8. RMSNorm: 12001
/// 9.9, 22.9, 55.8, 159.1 -> 9.6, 21.4, 51.5, 146.8; 16001 9.7, 21.9, 54.5,
/// 156.1 -> 9.3, 21.1, 50.7, 144.1; 26001 11.7, 24.8, 57.6, 159.4
/// -> 10.1, 22.0, 51.5, 143.7; 33001 16.5, 42.0, 106.4, 308.4
/// -> 10.2, 21.8, 51.5, 147.2; 53001 16.0, 37.5, 92.6, 262.3
/// -> 12.1, 23.9, 55.6, 154.4. Paced, LayerNorm takes up to 20% more at 600 MB,
/// and RMSNorm 15001 21.3, 51.2 -> 24.9, 59.9.)
// clang-format off
static constexpr Shape kFramedWords[] = {
    {4,  4,  4,  4,  8,  8, 7, moreSums},
    {4,  3,  5,  5, 10, 10, 6, moreSums},
    {3,  8,  4,  4, 12, 12, 9},
    {3,  6,  6,  6, 12, 12, 8},
    {4,  6,  5,  5, 10, 10, 9},
    {4,  8,  4,  4,  8,  8, 9},
    {3,  8,  6,  6, 12, 12, 8},
    {4,  8,  5,  5, 10, 10, 9},
    {4,  6,  8, 12, 12,  8, 6, oneSum},
    {4,  8,  6,  6, 12, 12, 5},
    {3,  6, 11, 12, 12, 11, 6, moreSums},
    {5,  6,  8,  8,  8,  8, 9, moreSums},
    {4,  6, 10, 12, 12, 10, 6, moreSums},
    {5,  6, 10, 12, 12, 10, 8, moreSums},
    {4, 16,  6,  6, 12, 12, 5, moreSums},
    {5,  7, 12, 12, 12, 12, 6, moreSums, /*multiple=*/1, /*halves=*/true},
    {4, 16,  7,  8, 12,  7, 5, moreSums},
    {5,  6, 10, 12, 12, 10, 6, oneSum},
    {5,  8, 10, 12, 12, 10, 6, oneSum},
    {4,  8, 13, 16, 16, 13, 6, oneSum}};
// clang-format on

/// Rows of 16-bit elements in frames; with one sum a column, and in pairs of
/// blocks, read again from their slots (ahead=1) for want of registers. (H200,
/// bf16, us. RMSNorm in six blocks, in place of pairs in 8 warps, 25, 75, 200
/// and 600 MB: 22402 columns 12.6, 24.5, 55.1, 156.4 -> 11.3, 23.5, 54.2,
/// 149.4; 24401 12.8, 24.4, 55.1, 157.8 -> 11.4, 23.1, 53.4, 147.3. Pairs, 200
/// and 600 MB, five blocks or eight, 9, 10, 11 and 12 warps: 18101 50.9, 144.4
/// -> 50.4, 141.8 and 51.3, 145.0 and 51.8, 145.2; 18301 52.3, 146.7 -> 50.4,
/// 141.1 and 51.2, 144.2 and 51.7, 144.3; 18401 52.6, 146.1 -> 52.2, 144.0 and
/// 51.5, 143.9; 19999 51.8, 145.3 -> 50.0, 153.5 and 50.6, 142.1 and 50.8,
/// 142.4; 20301 51.5, 145.0 -> 50.2, 154.4 and 50.6, 141.7 and 50.8, 142.8;
/// 19999, 25 and 75 MB, 10.9, 22.3 -> 11.1, 21.6 and 11.3, 22.1; three vectors
/// in 12 warps in place of four in 9, 17863 53.2, 148.5 -> 49.5, 141.0, 18251
/// 51.8, 144.6 -> 50.8, 142.8; five in eight blocks of two warps, not read
/// again, in place of pairs of which an eighth of the lanes is idle,
/// 18305 52.2, 145.9 -> 49.9, 143.6, 19401 51.3, 143.6 -> 49.9, 142.6; in place
/// of six, 12 warps, 22001 53.3, 149.2 -> 51.1, 153.0 (six take 54.6, 152.0 of
/// 21001, 11 warps of a pair 51.2, 143.7 of 20801); but of 17389 50.8, 144.7 ->
/// 52.8, 148.7 and 51.9, 146.4 and 52.1, 146.6. LayerNorm in six blocks, in
/// place of three, 75 and 200 MB: 21010 30.8, 62.4 -> 26.0, 60.0; in pairs with
/// six vectors in 8 warps, in place of six blocks, 25, 75, 200 and 600 MB:
/// 20479 12.0, 25.9, 58.4, 167.1 -> 14.2, 26.5, 54.1, 147.6; 22001 11.5, 24.6,
/// 56.6, 159.7 -> 14.0, 25.1, 54.7, 149.1; 23001 55.4, 155.7 -> 54.4, 150.8;
/// but 24001 11.4, 23.7, 53.9, 150.6 -> 14.4, 26.1, 55.0, 164.5. In frames of a
/// line, 8 warps and seven, which two runs timed: 20361 54.2 and 52.7, 53.5;
/// 20401 54.3, 150.5 and 52.7, 52.9, 146.0, 147.2; 20479 53.8, 149.9 and 52.6,
/// 146.2, 146.7; 20801 53.3, 148.5 and 52.7, 147.6; with row inputs loaded
/// 20441 56.8, 153.0; but 21001, whose seventh warps have some of their last
/// vectors, 53.0, 147.7 and 53.2, 153.4. Four vectors in 12 warps 20479 59.2,
/// 160.1.)
// clang-format off
static constexpr Shape kFramedHalves[] = {
    {4, 6,  4,  4, 12, 12,  9, oneSum},
    {3, 2, 12, 12, 12, 12, 32, oneSum},
    {4, 2, 11, 11, 12, 11,  8, oneSum},
    {5, 8,  2,  2,  8,  8,  9, oneSum},
    {4, 6,  4,  4,  8,  8, 12, moreSums},
    {6, 2,  7,  7,  7,  7,  5, moreSums},
    {6, 2,  8,  8,  8,  8,  5, moreSums}};
// clang-format on

/// Whether row groups that nothing holds together drift apart on long walks so
/// far that pacing gains more than it costs (1% of short ones). (H200, f32
/// LayerNorm, 75 and 600 MB, us, without and with: 4608 columns 20.5, 146.8 and
/// 20.6, 140.6; 11264 21.1, 141.5 and 21.3, 141.1; 18432 21.3, 145.7 and 21.3,
/// 140.6; 15000, idle lanes, 21.7, 142.5 and 21.9, 143.2; 36864, c16 21.8,
/// 142.3 and 22.3, 141.3; two vectors 10240 21.0, 141.1 and 21.2, 142.0. bf16
/// RMSNorm 61440, one row a block, 49.6 and 50.3.)
static bool drifts(const Problem &problem, const Shape &shape, unsigned groups,
                   bool isFull) {
  bool isWord = readsTwoOf(problem, 4);
  if (shape.chunks == 2 && !isWord)
    return shape.cluster > 4;
  if (!isHeavy(problem))
    return groups > 1;
  return shape.chunks == 3 &&
         (groups > 2 ||
          (groups == 2 && isFull && shape.cluster <= kPortableCluster));
}

/// Warps of a row with one sum a column that leave one of a multiprocessor's
/// four schedulers less to do. (H200, f32, 75 and 200 MB, us, 11 and 12 warps:
/// RMSNorm 31010 22.9, 52.5 and 21.7, 51.4; LayerNorm 33001 22.7, 51.0 and
/// 22.8, 51.7.)
static constexpr unsigned kUnevenWarps = 11;

/// Frames are of a sector, but of half of one where more than a third of the
/// row groups of large clusters have no rows else. (H200, f32, 75 and 200 MB,
/// us, half and whole. c16, 14 row groups, 12 or 8 of them busy: LayerNorm
/// 46001 columns 26.1, 57.2 and 27.1, 64.1; c8, 15, 12 or 8 busy: RMSNorm 53001
/// 26.9, 58.8 and 24.1, 54.8; c8, 30, 28 or 24 busy: LayerNorm 16385 23.5, 53.9
/// and 22.3, 52.5.)
static constexpr double kBusyShare = 2. / 3;

namespace {
/// How a shape holds rows: warps of a block for one, row groups, and vectors
/// that its lanes have beyond them.
struct Fit {
  unsigned warps, groups;
  int64_t idle;
};
} // namespace

/// None where the shape isn't for rows of `vectors` vectors.
static std::optional<Fit> fitShape(const Problem &problem,
                                   const TargetInfo &target, const Shape &shape,
                                   int64_t vectors, unsigned frame,
                                   bool isPair) {
  int64_t ofWarp = int64_t(32) * shape.chunks * shape.cluster;
  int64_t held = vectors + int64_t(shape.cluster) * frame;
  int64_t warps = llvm::divideCeil(held, ofWarp);
  // Pairs of blocks in frames have as many warps, though fewer may do.
  if (isPair)
    warps = std::max<int64_t>(warps, shape.fewestWarps);
  if (warps == kUnevenWarps && shape.mostWarps > kUnevenWarps &&
      !isHeavy(problem))
    ++warps;
  if (warps < shape.fewestWarps || warps > shape.mostWarps ||
      shape.cluster > target.maxCluster || vectors % shape.multiple != 0 ||
      (shape.sums != anySums && (shape.sums == moreSums) != isHeavy(problem)))
    return {};
  Fit fit = {unsigned(warps), unsigned(shape.blockWarps / warps),
             warps * ofWarp - held};
  if (fit.groups * fit.warps < shape.fewestOfBlock ||
      fit.idle * shape.lanesOfIdle > warps * ofWarp)
    return {};
  return fit;
}

/// `schedule` in another shape, for few rows.
static ScheduleAttr reshapeForFewRows(ScheduleAttr schedule, unsigned cluster,
                                      unsigned warps, unsigned groups,
                                      unsigned chunks) {
  return change(schedule,
                llvm::formatv("cluster={0} warps={1} row-groups={2} chunks={3} "
                              "slots=2 pace=0 row-inputs=copy",
                              cluster, warps, groups, chunks)
                    .str());
}

/// Few framed rows of 32-bit elements: three vectors a lane in 12 warps of each
/// of as many blocks as leave the fewest lanes idle, or of fewer if hardly more
/// are; null if all leave more than an eighth. (H200, f32 LayerNorm, 25 and 75
/// MB, us, in place of the schedule for any number of rows: 3501 columns 9.23,
/// 20.4 -> 9.00, 20.9; 4501 9.25, 21.0 -> 9.00, 20.9; 5001 9.19, 20.7 -> 9.05,
/// 20.7; 5501 9.76, 21.2 -> 9.17, 20.8; 6001 9.74, 21.3 -> 9.02, 20.6; 6501
/// 9.57, 21.3 -> 9.09, 20.6; 7001 9.18, 20.9 -> 9.13, 20.9; 7501 9.51, 21.1
/// -> 9.46, 21.1; 8001 9.38, 20.6 -> 9.23, 20.7; 8501 9.43, 21.4 -> 9.35, 20.9;
/// 9001 9.59, 21.2 -> 9.16, 20.8; 9501 9.59 -> 9.39; 10501 9.18 -> 9.08; 12001
/// 9.54 -> 9.39. At 200 MB from 1.2% less to 1.4% more, at 600 MB up to 8%
/// more. RMSNorm gains nothing: 6501 8.66 -> 8.73, 8001 8.58 -> 8.70.)
static ScheduleAttr chooseFramedOfFewRows(const Problem &problem,
                                          const TargetInfo &target,
                                          ScheduleAttr schedule) {
  constexpr unsigned chunks = 3;
  unsigned frame = getSectorVectors(problem, schedule.getVector());
  int64_t vectors = getVectors(problem, schedule.getVector());
  ScheduleAttr best;
  double most = 1. / 8;
  // Worth more blocks.
  constexpr double leastGain = 1. / 32;
  if (!isHeavy(problem))
    return {};
  for (unsigned cluster = 4;
       cluster <= std::min(target.maxCluster, kPortableCluster); ++cluster)
    for (unsigned warps : {4u, 3u, 2u}) {
      int64_t lanes = int64_t(32) * chunks * warps * cluster;
      int64_t held = vectors + int64_t(cluster) * frame;
      double idle = double(lanes - held) / lanes;
      if (held > lanes || idle > most)
        continue;
      ScheduleAttr few =
          withFrame(reshapeForFewRows(schedule, cluster, warps,
                                      kManyWarps / warps, chunks),
                    frame);
      if (!isLegal(problem, few, target))
        continue;
      best = few;
      most = idle - leastGain;
    }
  return best;
}

/// The same of rows that begin with a vector.
static ScheduleAttr chooseAlignedOfFewRows(const Problem &problem,
                                           const TargetInfo &target,
                                           ScheduleAttr schedule) {
  int64_t vectors = getVectors(problem, schedule.getVector());
  for (const Shape &shape : kFewWords) {
    std::optional<Fit> fit = fitShape(problem, target, shape, vectors,
                                      /*frame=*/0, /*isPair=*/false);
    if (!fit)
      continue;
    ScheduleAttr few = reshapeForFewRows(schedule, shape.cluster, fit->warps,
                                         fit->groups, shape.chunks);
    if (isLegal(problem, few, target))
      return few;
  }
  // (H200, f32, 25 and 75 MB, us, LayerNorm: 8704 columns 8.62, 20.1 -> 8.42,
  // 20.1; 11264 8.84, 20.5 -> 8.59, 20.2; 24576 8.92, 20.9 -> 8.72, 20.5; 32768
  // 9.37, 20.8 -> 9.15, 20.8; but of four vectors 20480 9.24, 20.7 -> 9.47,
  // 20.9, of three in six warps 18432 9.10 -> 9.23, 50 MB 14.9 -> 15.2, 13312
  // 8.93, 20.5 -> 8.94, 20.8. RMSNorm: 10000 8.53, 20.2 -> 8.42, 19.9; 18432
  // 8.52 -> 8.25; 20480 8.53, 20.0 -> 8.41, 19.9.)
  // Pairs with one sum a column that aren't paced gain nothing: 1802 8.3
  // and 8.3.
  unsigned chunks = schedule.getChunks();
  bool loses = isHeavy(problem)
                   ? chunks > 3 || (chunks == 3 && schedule.getWarps() > 5)
                   : schedule.getCluster() == 2 && schedule.getPace() == 0;
  ScheduleAttr few = change(schedule, "pace=0 row-inputs=copy");
  return !loses && isLegal(problem, few, target) ? few : ScheduleAttr();
}

ScheduleAttr norm_fusion::chooseManyWarpsOfFewRows(const Problem &problem,
                                                   const TargetInfo &target,
                                                   ScheduleAttr schedule) {
  if (schedule.getStructure() != Structure::ring ||
      schedule.getCluster() == 1 || schedule.getCopy() != Copy::cp_async ||
      schedule.getCombine() != Combine::tags || !readsTwoOf(problem, 4) ||
      problem.segmented)
    return {};
  ScheduleAttr few = isFramed(problem, schedule)
                         ? chooseFramedOfFewRows(problem, target, schedule)
                         : chooseAlignedOfFewRows(problem, target, schedule);
  return few == schedule ? ScheduleAttr() : few;
}

ScheduleAttr norm_fusion::chooseManyWarps(
    MLIRContext *context, const Problem &problem, const TargetInfo &target,
    unsigned vector, bool framed, Combine combine, std::string &reason) {
  bool isWord = readsTwoOf(problem, 4);
  if (!isWord && !readsTwoOf(problem, 2))
    return {};
  int64_t vectors = getVectors(problem, vector);
  if (isWord && vectors <= kWideVectors)
    return {};
  ArrayRef<Shape> shapes = framed && isWord   ? ArrayRef(kFramedWords)
                           : framed           ? ArrayRef(kFramedHalves)
                           : isWord           ? ArrayRef(kWords)
                           : isHeavy(problem) ? ArrayRef(kHeavyHalves)
                                              : ArrayRef(kLightHalves);
  unsigned frame = framed ? getSectorVectors(problem, vector) : 0;
  // Pairs of blocks hold it in frames of half a line, five vectors a lane
  // (chooseWideFrames()). In frames of a sector, 20401 columns, 200 and 600 MB:
  // 54.3, 166.9 (148.8 before ptxas made another loop of it), and six vectors
  // 54.6, 147.9.
  if (framed && !isWord && isHeavy(problem) &&
      vectors + kLineSectors * frame <= 2 * kFramedWarps * 32 * 5)
    return {};
  for (const Shape &shape : shapes) {
    bool isPair = framed && !isWord && shape.cluster == 2;
    std::optional<Fit> fit =
        fitShape(problem, target, shape, vectors, frame, isPair);
    if (!fit)
      continue;
    auto [warps, groups, idle] = *fit;
    int64_t heldByLines = vectors + 2 * kLineSectors * frame;
    // Three vectors a lane gain in frames of a line. (18251 in frames of a
    // sector 52.8.)
    if (isPair && shape.chunks == 3 &&
        heldByLines > 2 * warps * shape.chunks * 32)
      continue;
    // Fewer warps gain if the last one's last vectors are all idle.
    if (isPair && isHeavy(problem) && warps < kFramedWarps &&
        heldByLines > 2 * (warps * shape.chunks - 1) * 32)
      continue;
    // Measured where so much in flight isn't too much.
    bool mayBeTooMuch = !framed && !isWord &&
                        shape.cluster < kPortableCluster && shape.chunks > 2;
    if (mayBeTooMuch && !takesManyVectors(problem))
      continue;
    bool paces = combine == Combine::tags && !framed && !shape.copies &&
                 drifts(problem, shape, groups, idle == 0);
    unsigned ahead =
        framed && !isWord &&
        (isPair || (!isHeavy(problem) && shape.blockWarps >= kManyWarps));
    auto most = ScheduleAttr::get(
        context, Structure::ring, shape.cluster, warps, groups, /*slots=*/2,
        shape.chunks, vector, Copy::cp_async, combine, paces ? kPace : 0,
        /*grid=*/0, /*lanes=*/32, /*rows=*/1, frame, shape.copies, /*tile=*/0,
        ahead, /*copiesEnds=*/false,
        /*shifts=*/1);
    // The estimate of registers says a tenth more of two sums a column.
    if (mayBeTooMuch) {
      if (getMeanInFlight(problem, most, target) >
              kMostOfFewRows * target.bytesInFlight ||
          !isLegal(problem, most, target))
        continue;
      reason = llvm::formatv("{0} vectors a lane in {1} warps of a block, {2} "
                             "bytes in flight",
                             shape.chunks, shape.blockWarps,
                             getBytesInFlight(problem, most));
      return most;
    }
    if (shape.halves || (framed && shape.cluster > kPortableCluster &&
                         getBusyShare(problem, most, target) < kBusyShare))
      most = change(most, "frame=1");
    if (ScheduleAttr schedule = fitSlots(problem, most, target, reason))
      return schedule;
  }
  return {};
}
