//===- TuningTest.cpp - The database of tuned schedules -------------------===//

#include "norm_fusion/Schedule/Tuning.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir;
using namespace mlir::norm_fusion;

static Problem getProblem(int64_t columns) {
  Problem problem;
  problem.columns = problem.innerColumns = columns;
  problem.elementBytes = {2, 2};
  problem.accumulatorBytes = {4};
  problem.rowReductions = problem.exchanges = 1;
  return problem;
}

static TuningEntry getEntry(int64_t columns, std::string schedule,
                            std::string chip = "sm_90a",
                            std::string version = NORM_FUSION_VERSION) {
  TuningEntry entry;
  entry.problem = getKey(getProblem(columns));
  entry.chip = chip;
  entry.version = version;
  entry.schedule = schedule;
  entry.us = 1.5;
  entry.untunedUs = 2;
  entry.rows = 8192;
  entry.device = "some GPU";
  return entry;
}

static std::string getError(StringRef text) {
  llvm::Expected<TuningDatabase> database = TuningDatabase::parse(text, "F");
  return database ? "" : llvm::toString(database.takeError());
}

TEST(Tuning, keysTellProblemsApart) {
  EXPECT_EQ(getKey(getProblem(128)),
            "columns=128 elements=2,2 accumulators=4 row-reductions=1 "
            "contiguous=1 taggable=1 segmented=0");
  // One difference each.
  void (*changes[])(Problem &) = {
      [](Problem &) {},
      [](Problem &p) { p.columns = ShapedType::kDynamic; },
      [](Problem &p) { p.innerColumns = 64; },
      [](Problem &p) { p.blockColumns = {32}; },
      [](Problem &p) { p.elementBytes = {4, 2}; },
      [](Problem &p) { p.rowInputBytes = {4}; },
      [](Problem &p) { p.accumulatorBytes = {4, 4}; },
      [](Problem &p) { p.columnInputBytes = 2; },
      [](Problem &p) { p.tiledBytes = {2}; },
      [](Problem &p) { p.narrowOutputs = true; },
      [](Problem &p) { p.scalarBytes = {4}; },
      [](Problem &p) { p.rowReductions = 2; },
      [](Problem &p) { p.exchanges = 2; },
      [](Problem &p) { p.exchanges = 0; },
      [](Problem &p) { p.contiguousColumns = false; },
      [](Problem &p) { p.linearRows = false; },
      [](Problem &p) { p.taggable = false; },
      [](Problem &p) { p.segmented = true; }};
  std::set<std::string> keys;
  for (auto change : changes) {
    Problem problem = getProblem(128);
    change(problem);
    keys.insert(getKey(problem));
  }
  EXPECT_EQ(keys.size(), std::size(changes));
}

TEST(Tuning, roundTrips) {
  TuningDatabase database;
  database.add(getEntry(128, "structure=small"));
  database.add(getEntry(256, "structure=ring", "sm_100a"));
  std::string text = llvm::formatv("{0:2}", database.toJSON());
  llvm::Expected<TuningDatabase> again = TuningDatabase::parse(text, "F");
  ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
  ASSERT_EQ(again->getEntries().size(), 2u);
  EXPECT_EQ(llvm::formatv("{0:2}", again->toJSON()).str(), text);
  std::string ignored;
  const TuningEntry *entry = again->lookUp(getProblem(128), "sm_90a", ignored);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->schedule, "structure=small");
  EXPECT_EQ(entry->us, 1.5);
  EXPECT_EQ(entry->untunedUs, 2);
  EXPECT_EQ(entry->rows, 8192);
  EXPECT_EQ(entry->device, "some GPU");
}

TEST(Tuning, looksUpWhatIsForThisChipAndVersion) {
  TuningDatabase database;
  database.add(getEntry(128, "a", "sm_90a", "0.0.1"));
  database.add(getEntry(128, "b", "sm_100a"));
  std::string ignored;
  EXPECT_FALSE(database.lookUp(getProblem(128), "sm_90a", ignored));
  EXPECT_EQ(ignored, "sm_100a with version " NORM_FUSION_VERSION
                     ", sm_90a with version 0.0.1");
  EXPECT_FALSE(database.lookUp(getProblem(64), "sm_90a", ignored));
  EXPECT_EQ(ignored, "");
}

TEST(Tuning, anEntryTakesThePlaceOfItsOwnKindAlone) {
  TuningDatabase database;
  database.add(getEntry(128, "old"));
  database.add(getEntry(128, "other", "sm_100a"));
  database.add(getEntry(256, "wide"));
  database.add(getEntry(128, "new"));
  EXPECT_EQ(database.getEntries().size(), 3u);
  std::string ignored;
  EXPECT_EQ(database.lookUp(getProblem(128), "sm_90a", ignored)->schedule,
            "new");
  EXPECT_EQ(database.lookUp(getProblem(128), "sm_100a", ignored)->schedule,
            "other");
  EXPECT_EQ(database.lookUp(getProblem(256), "sm_90a", ignored)->schedule,
            "wide");
}

TEST(Tuning, saysWhatIsWrongAndWhere) {
  EXPECT_EQ(getError("{\n \"schema\": 1,\n \"entries\": [}"),
            "tuning database F: isn't JSON: [3:14, byte=30]: Invalid JSON "
            "value");
  EXPECT_EQ(getError(std::string(1'000'000, '[')),
            "tuning database F: isn't JSON: [byte=64]: arrays and objects in "
            "more than 64 levels");
  // Brackets in texts are none, nor those that were closed.
  std::string closed =
      R"({"schema": 2, "a": ")" + std::string(100, '[') + R"(\"", "b": [)";
  for (unsigned i = 0; i < 100; ++i)
    closed += "[], ";
  EXPECT_EQ(getError(closed + "0]}").substr(0, 34),
            "tuning database F: schema: found 2");
  EXPECT_EQ(getError("[]"),
            "tuning database F: expected an object with 'schema' and "
            "'entries'");
  EXPECT_EQ(getError("{}"), "tuning database F: schema: expected 1");
  EXPECT_EQ(getError(R"({"schema": 2})"),
            "tuning database F: schema: found 2, expected 1; tune again with "
            "norm-fusion-runner --tune");
  EXPECT_EQ(getError(R"({"schema": 1, "entries": 3})"),
            "tuning database F: entries: expected an array");
  EXPECT_EQ(getError(R"({"schema": 1, "entries": [3]})"),
            "tuning database F: entries[0]: expected an object");
  std::string good = R"({"problem": "p", "chip": "c", "version": "v",
                         "schedule": "s"})";
  EXPECT_EQ(getError(R"({"schema": 1, "entries": [)" + good + "]}"), "");
  EXPECT_EQ(getError(R"({"schema": 1, "entries": [)" + good +
                     R"(, {"problem": "p", "chip": 90}]})"),
            "tuning database F: entries[1].chip: expected a text");
  EXPECT_EQ(getError(R"({"schema": 1, "entries": [{"problem": "p",
                         "chip": "c", "version": "v", "schedule": "s",
                         "us": "fast"}]})"),
            "tuning database F: entries[0].us: expected a number from 0 on");
  EXPECT_EQ(getError(R"({"schema": 1, "entries": [{"problem": "p",
                         "chip": "c", "version": "v", "schedule": "s",
                         "us": -1}]})"),
            "tuning database F: entries[0].us: expected a number from 0 on");
  EXPECT_EQ(
      getError(R"({"schema": 1, "entries": [{"problem": "p",
                         "chip": "c", "version": "v", "schedule": "s",
                         "rows": "8192"}]})"),
      "tuning database F: entries[0].rows: expected an integer from 0 on");
  EXPECT_EQ(getError(R"({"schema": 1, "entries": [{"problem": "p",
                         "chip": "c", "version": "v", "schedule": "s",
                         "device": 0}]})"),
            "tuning database F: entries[0].device: expected a text");
}
