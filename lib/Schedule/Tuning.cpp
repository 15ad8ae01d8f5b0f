//===- Tuning.cpp - The database of tuned schedules -----------------------===//
//
// Reading is strict, for the files are passed around: whatever isn't as it must
// be is an error that says where. An entry for another chip or version is well
// formed and simply doesn't count.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Schedule/Tuning.h"
#include "norm_fusion/Schedule/JSON.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace mlir::norm_fusion;
using llvm::Error;
using llvm::Expected;
namespace json = llvm::json;

static constexpr int64_t schema = 1;

std::string norm_fusion::getKey(const Problem &problem) {
  auto size = [](int64_t columns) {
    return ShapedType::isDynamic(columns) ? "?" : std::to_string(columns);
  };
  auto list = [](const auto &values) {
    std::string text;
    for (auto value : values)
      text += (text.empty() ? "" : ",") + std::to_string(value);
    return text;
  };
  std::string key = llvm::formatv(
      "columns={0} elements={1} accumulators={2} row-reductions={3} "
      "contiguous={4} taggable={5} segmented={6}",
      size(problem.columns), list(problem.elementBytes),
      list(problem.accumulatorBytes), problem.rowReductions,
      int(problem.contiguousColumns), int(problem.taggable),
      int(problem.segmented));
  // What few problems have is named where they have it.
  if (problem.contiguousRows)
    key += " contiguous-rows";
  if (problem.exchanges != unsigned(problem.rowReductions != 0))
    key += " exchanges=" + std::to_string(problem.exchanges);
  if (!problem.linearRows)
    key += " linear-rows=0";
  if (problem.innerColumns != problem.columns)
    key += " inner=" + size(problem.innerColumns);
  if (!problem.blockColumns.empty())
    key += " blocks=" + list(problem.blockColumns);
  if (problem.columnInputBytes)
    key += " column-inputs=" + std::to_string(problem.columnInputBytes);
  if (!problem.rowInputBytes.empty())
    key += " row-inputs=" + list(problem.rowInputBytes);
  if (!problem.tiledBytes.empty())
    key += " tiled=" + list(problem.tiledBytes);
  if (problem.narrowOutputs)
    key += " narrow-outputs=1";
  if (!problem.scalarBytes.empty())
    key += " scalars=" + list(problem.scalarBytes);
  return key;
}

static Error fail(const Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

Expected<TuningDatabase> TuningDatabase::read(StringRef path,
                                              MLIRContext *context) {
  if (Error error = checkNoDevice(path))
    return std::move(error);
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return fail("tuning database " + path + ": " + buffer.getError().message());
  Expected<TuningDatabase> database = parse((*buffer)->getBuffer(), path);
  if (!database)
    return database;
  // Other versions may have other fields.
  std::string error;
  for (auto [i, entry] : llvm::enumerate(database->entries)) {
    if (entry.version != NORM_FUSION_VERSION)
      continue;
    entry.parsed = parseSchedule(context, entry.schedule, /*base=*/{}, error);
    if (!entry.parsed)
      return fail("tuning database " + path + ": entries[" + Twine(i) +
                  "].schedule: " + error);
  }
  return database;
}

Expected<TuningDatabase> TuningDatabase::parse(StringRef text, StringRef name) {
  std::string file = ("tuning database " + name).str();
  Expected<json::Value> root = parseJSON(text);
  if (!root)
    return fail(file + ": isn't JSON: " + llvm::toString(root.takeError()));
  const json::Object *object = root->getAsObject();
  if (!object)
    return fail(file + ": expected an object with 'schema' and 'entries'");
  std::optional<int64_t> found = object->getInteger("schema");
  if (!found)
    return fail(file + ": schema: expected " + Twine(schema));
  if (*found != schema)
    return fail(file + ": schema: found " + Twine(*found) + ", expected " +
                Twine(schema) + "; tune again with norm-fusion-runner --tune");
  const json::Array *array = object->getArray("entries");
  if (!array)
    return fail(file + ": entries: expected an array");
  TuningDatabase database;
  for (auto [i, value] : llvm::enumerate(*array)) {
    std::string where = file + ": entries[" + std::to_string(i) + "]";
    const json::Object *fields = value.getAsObject();
    if (!fields)
      return fail(where + ": expected an object");
    TuningEntry entry;
    std::pair<StringRef, std::string *> texts[] = {
        {"problem", &entry.problem},
        {"chip", &entry.chip},
        {"version", &entry.version},
        {"schedule", &entry.schedule}};
    for (auto [key, into] : texts) {
      std::optional<StringRef> field = fields->getString(key);
      if (!field || field->trim().empty())
        return fail(where + "." + key + ": expected a text");
      *into = field->str();
    }
    std::pair<StringRef, double *> numbers[] = {
        {"us", &entry.us}, {"untuned_us", &entry.untunedUs}};
    for (auto [key, into] : numbers) {
      const json::Value *field = fields->get(key);
      double number = field ? field->getAsNumber().value_or(-1) : 0;
      if (number < 0 || !std::isfinite(number))
        return fail(where + "." + key + ": expected a number from 0 on");
      *into = number;
    }
    const json::Value *rows = fields->get("rows");
    if (rows && rows->getAsInteger().value_or(-1) < 0)
      return fail(where + ".rows: expected an integer from 0 on");
    entry.rows = rows ? *rows->getAsInteger() : 0;
    const json::Value *device = fields->get("device");
    if (device && !device->getAsString())
      return fail(where + ".device: expected a text");
    entry.device = device ? device->getAsString()->str() : "";
    database.entries.push_back(std::move(entry));
  }
  return database;
}

const TuningEntry *TuningDatabase::lookUp(const Problem &problem,
                                          StringRef chip,
                                          std::string &ignored) const {
  std::string key = getKey(problem);
  std::set<std::string> others;
  for (const TuningEntry &entry : llvm::reverse(entries)) {
    if (entry.problem != key)
      continue;
    if (entry.chip == chip && entry.version == NORM_FUSION_VERSION)
      return &entry;
    others.insert(entry.chip + " with version " + entry.version);
  }
  ignored = llvm::join(others, ", ");
  return nullptr;
}

void TuningDatabase::add(TuningEntry entry) {
  llvm::erase_if(entries, [&](const TuningEntry &other) {
    return other.problem == entry.problem && other.chip == entry.chip &&
           other.version == entry.version;
  });
  entries.push_back(std::move(entry));
}

json::Value TuningDatabase::toJSON() const {
  json::Array array;
  for (const TuningEntry &entry : entries)
    array.push_back(json::Object{{"problem", entry.problem},
                                 {"chip", entry.chip},
                                 {"version", entry.version},
                                 {"schedule", entry.schedule},
                                 {"us", entry.us},
                                 {"untuned_us", entry.untunedUs},
                                 {"rows", entry.rows},
                                 {"device", entry.device}});
  return json::Object{{"schema", schema}, {"entries", std::move(array)}};
}
