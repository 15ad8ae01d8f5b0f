//===- JSON.cpp - JSON of files that are passed around --------------------===//

#include "norm_fusion/Schedule/JSON.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

static constexpr unsigned maxLevels = 64;

Expected<json::Value> mlir::norm_fusion::parseJSON(StringRef text) {
  unsigned levels = 0;
  bool isQuoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isQuoted) {
      i += c == '\\';
      isQuoted = c != '"';
    } else if (c == '"') {
      isQuoted = true;
    } else if (c == '[' || c == '{') {
      if (++levels > maxLevels)
        return createStringError(
            formatv("[byte={0}]: arrays and objects in more than {1} levels", i,
                    maxLevels)
                .str());
    } else if (levels != 0 && (c == ']' || c == '}')) {
      --levels;
    }
  }
  return json::parse(text);
}

Error mlir::norm_fusion::checkNoDevice(StringRef path) {
  if (sys::fs::get_file_type(path) != sys::fs::file_type::character_file)
    return Error::success();
  return createStringError(
      formatv("'{0}' is a device, expected a file or a pipe", path).str());
}
