//===- SearchTest.cpp - Neighbours, and the search with made-up times -----===//

#include "norm_fusion/Schedule/Tuning.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::norm_fusion;
using llvm::Expected;

namespace {
struct Search : testing::Test {
  Search() {
    context.loadDialect<NormFusionDialect>();
    problem.columns = problem.innerColumns = 4096;
    problem.elementBytes = {2, 2};
    problem.accumulatorBytes = {4, 4};
    problem.rowReductions = 2;
    std::string reason;
    start = chooseSchedule(&context, problem, target, reason);
  }
  /// `start` with some fields changed.
  ScheduleAttr get(StringRef fields) {
    std::string error;
    ScheduleAttr schedule = parseSchedule(&context, fields, start, error);
    EXPECT_TRUE(schedule) << error;
    return schedule;
  }
  /// Searches with a time for every schedule.
  Expected<SearchResult>
  searchWith(llvm::function_ref<Trial(ScheduleAttr)> time) {
    return search(
        problem, target, start,
        [&](ScheduleAttr schedule) -> Expected<Trial> {
          ++measured[schedule];
          return time(schedule);
        },
        [&] { return !limit || measured.size() < limit; });
  }

  MLIRContext context;
  TargetInfo target = *TargetInfo::get("sm_90a");
  Problem problem;
  ScheduleAttr start;
  llvm::DenseMap<ScheduleAttr, unsigned> measured;
  size_t limit = 0;
};
} // namespace

TEST_F(Search, neighboursAreLegalAndOthers) {
  for (int64_t columns : {64, 65, 150, 257, 384, 1001, 4096, 16384, 65536}) {
    problem.columns = problem.innerColumns = columns;
    std::string reason, error;
    ScheduleAttr from = chooseSchedule(&context, problem, target, reason);
    ASSERT_TRUE(from) << reason;
    SmallVector<ScheduleAttr> neighbours = getNeighbours(problem, from, target);
    EXPECT_GE(neighbours.size(), 4u) << columns;
    llvm::DenseSet<ScheduleAttr> seen = {from};
    for (ScheduleAttr neighbour : neighbours) {
      EXPECT_TRUE(seen.insert(neighbour).second) << neighbour.getText();
      EXPECT_TRUE(isLegalSchedule(problem, neighbour, target, error))
          << neighbour.getText() << ": " << error;
    }
  }
}

TEST_F(Search, smallerSchedulesEnd) {
  for (int64_t columns :
       {64, 65, 150, 257, 384, 1001, 4096, 8192, 16384, 65536}) {
    problem.columns = problem.innerColumns = columns;
    std::string reason, error;
    ScheduleAttr from = chooseSchedule(&context, problem, target, reason);
    ASSERT_TRUE(from) << reason;
    llvm::DenseSet<ScheduleAttr> seen = {from};
    while (ScheduleAttr smaller = getSmallerSchedule(problem, from, target)) {
      EXPECT_TRUE(seen.insert(smaller).second) << smaller.getText();
      EXPECT_TRUE(isLegalSchedule(problem, smaller, target, error))
          << smaller.getText() << ": " << error;
      EXPECT_EQ(smaller.getStructure(), from.getStructure());
      // More registers a thread, or less to hold in them.
      EXPECT_TRUE(smaller.getThreads() < from.getThreads() ||
                  smaller.getRows() < from.getRows() ||
                  smaller.getChunks() < from.getChunks())
          << smaller.getText();
      from = smaller;
    }
    EXPECT_LT(seen.size(), 20u) << columns;
  }
}

TEST_F(Search, smallerThanWhatSpillsKnowingly) {
  ScheduleAttr spills = get("cluster=1 warps=2 row-groups=4 slots=1 chunks=8 "
                            "pace=0");
  std::string error;
  ASSERT_TRUE(isLegalSchedule(problem, spills, target, error)) << error;
  EXPECT_FALSE(getSmallerSchedule(problem, spills, target));
  EXPECT_TRUE(getSmallerSchedule(problem, start, target));
}

TEST_F(Search, noColumnsAndTooMany) {
  for (int64_t columns : {int64_t(0), int64_t(1) << 41, (int64_t(1) << 41) + 1,
                          int64_t(1) << 62}) {
    problem.columns = problem.innerColumns = columns;
    std::string reason, error;
    ScheduleAttr from = chooseSchedule(&context, problem, target, reason);
    ASSERT_TRUE(from) << reason;
    EXPECT_TRUE(isLegalSchedule(problem, from, target, error)) << error;
    EXPECT_EQ(from.getStructure(), Structure::plain) << from.getText();
    for (ScheduleAttr neighbour : getNeighbours(problem, from, target))
      EXPECT_TRUE(isLegalSchedule(problem, neighbour, target, error))
          << neighbour.getText() << ": " << error;
  }
}

TEST_F(Search, rowsAsOnePieceTakeFewerVectors) {
  // Their lanes begin with the row, not with a frame.
  problem.columns = problem.innerColumns = 65;
  std::string reason, error;
  ScheduleAttr pieces = chooseSchedule(&context, problem, target, reason);
  ASSERT_EQ(pieces.getCopy(), Copy::rows) << pieces.getText();
  ASSERT_EQ(pieces.getChunks(), 2u) << pieces.getText();
  ScheduleAttr byLanes =
      parseSchedule(&context, "copy=cp-async chunks=3", pieces, error);
  EXPECT_TRUE(
      llvm::is_contained(getNeighbours(problem, pieces, target), byLanes));
  EXPECT_TRUE(
      llvm::is_contained(getNeighbours(problem, byLanes, target), pieces));
}

TEST_F(Search, twoShiftsTakeWhatTheyNeed) {
  problem.columns = problem.innerColumns = 17389;
  std::string reason, error;
  ScheduleAttr one = chooseSchedule(&context, problem, target, reason);
  ASSERT_EQ(one.getShifts(), 1u) << one.getText();
  ASSERT_FALSE(one.getCopiesEnds()) << one.getText();
  ScheduleAttr two =
      parseSchedule(&context, "shifts=2 ahead=0 ends=copy", one, error);
  ASSERT_TRUE(two) << error;
  EXPECT_TRUE(llvm::is_contained(getNeighbours(problem, one, target), two));
}

TEST_F(Search, clusterTakesItsWarpsAlong) {
  // Without a cluster a row needs all warps; the block keeps its threads.
  ScheduleAttr alone = get("cluster=1 warps=8 row-groups=1");
  EXPECT_TRUE(llvm::is_contained(
      getNeighbours(problem, get("cluster=2 warps=4 row-groups=2"), target),
      alone))
      << start.getText();
}

TEST_F(Search, dynamicColumnsHaveNoSharedRows) {
  problem.columns = problem.innerColumns = ShapedType::kDynamic;
  std::string reason;
  ScheduleAttr from = chooseSchedule(&context, problem, target, reason);
  for (ScheduleAttr neighbour : getNeighbours(problem, from, target))
    EXPECT_EQ(neighbour.getStructure(), Structure::plain);
}

TEST_F(Search, otherStructuresComeWithTheirFields) {
  // Row reductions alone: a block a row, or the ring.
  problem.accumulatorBytes = {};
  std::string reason;
  ScheduleAttr rows =
      getDefaultSchedule(&context, problem, target, Structure::rows, reason);
  ScheduleAttr ring =
      getDefaultSchedule(&context, problem, target, Structure::ring, reason);
  ASSERT_TRUE(rows && ring);
  EXPECT_TRUE(llvm::is_contained(getNeighbours(problem, ring, target), rows));
  EXPECT_TRUE(llvm::is_contained(getNeighbours(problem, rows, target), ring));
}

TEST_F(Search, walksToTheFastest) {
  // Far away: two steps in slots, one in the row groups.
  ScheduleAttr goal = get("slots=4 row-groups=2 combine=grid");
  auto found = searchWith([&](ScheduleAttr s) {
    double us = 50;
    us += std::abs(int(s.getSlots()) - int(goal.getSlots()));
    us += std::abs(int(s.getRowGroups()) - int(goal.getRowGroups()));
    us += s.getCombine() != goal.getCombine();
    us += s.getPace() != goal.getPace();
    us += 5 * (s.getCluster() != goal.getCluster());
    us += 5 * (s.getChunks() != goal.getChunks());
    us += 5 * (s.getVector() != goal.getVector());
    us += 5 * (s.getCopy() != goal.getCopy());
    return Trial{s, us, ""};
  });
  ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
  EXPECT_EQ(found->best, goal) << found->best.getText();
  EXPECT_EQ(found->us, 50);
  EXPECT_GT(found->startUs, 50);
  unsigned trials = 0;
  for (auto [schedule, times] : measured) {
    trials += times;
    EXPECT_LE(times, schedule == goal || schedule == start ? 2u : 1u);
  }
  EXPECT_EQ(found->trials, trials);
}

TEST_F(Search, staysWhereNothingIsFaster) {
  auto found = searchWith([&](ScheduleAttr s) {
    // Within the noise.
    return Trial{s, s == start ? 50.0 : 49.9, ""};
  });
  ASSERT_TRUE(bool(found));
  EXPECT_EQ(found->best, start);
  EXPECT_EQ(found->us, 50);
  EXPECT_EQ(measured.size(), 1 + getNeighbours(problem, start, target).size());
}

TEST_F(Search, takesNothingThatIsRejected) {
  auto found = searchWith([&](ScheduleAttr s) {
    bool wrong = s.getCombine() == Combine::grid;
    return Trial{s,
                 wrong        ? 1.0
                 : s == start ? 50.0
                              : 60.0,
                 wrong ? "result 0 is off" : ""};
  });
  ASSERT_TRUE(bool(found));
  EXPECT_EQ(found->best, start);
}

TEST_F(Search, believesNothingThatIsFasterOnce) {
  ScheduleAttr lucky = get("combine=grid");
  auto found = searchWith([&](ScheduleAttr s) {
    return Trial{s, s == lucky && measured[s] == 1 ? 10.0 : 50.0, ""};
  });
  ASSERT_TRUE(bool(found));
  EXPECT_EQ(found->best, start);
  EXPECT_EQ(measured[lucky], 2u);
}

TEST_F(Search, endsWhenTold) {
  limit = 5;
  auto found = searchWith(
      [&](ScheduleAttr s) { return Trial{s, s == start ? 100.0 : 50.0, ""}; });
  ASSERT_TRUE(bool(found));
  EXPECT_EQ(measured.size(), 5u);
  // What was found until then counts.
  EXPECT_NE(found->best, start);
}

TEST_F(Search, failsWithTheDeviceOrTheStart) {
  auto rejected =
      searchWith([&](ScheduleAttr s) { return Trial{s, 1, "it spills"}; });
  EXPECT_EQ(llvm::toString(rejected.takeError()),
            "the untuned schedule is rejected: it spills");
  unsigned calls = 0;
  auto lost = search(
      problem, target, start,
      [&](ScheduleAttr s) -> Expected<Trial> {
        if (++calls == 3)
          return llvm::createStringError("the device is lost");
        return Trial{s, 50, ""};
      },
      [] { return true; });
  EXPECT_EQ(llvm::toString(lost.takeError()), "the device is lost");
  EXPECT_EQ(calls, 3u);
}
