//===- Image.cpp - What an image of kernels says of itself ----------------===//

#include "norm_fusion/Runtime/Image.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Regex.h"

using namespace mlir::norm_fusion;
using llvm::StringRef;

static bool isIdentifier(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$';
}

std::optional<size_t> runtime::countParameters(StringRef image,
                                               StringRef kernel) {
  size_t entry = image.find((".entry " + kernel + "(").str());
  if (entry == StringRef::npos)
    return std::nullopt;
  return image.substr(entry)
      .take_until([](char c) { return c == ')'; })
      .count(".param ");
}

bool runtime::hasGlobal(StringRef image, StringRef name) {
  // A cubin's symbols follow each other, and each kernel has a section.
  bool isCubin = image.starts_with("\x7f"
                                   "ELF");
  if (isCubin && image.contains((".text." + name).str() + '\0'))
    return false;
  for (size_t at = image.find(name); at != StringRef::npos;
       at = image.find(name, at + 1)) {
    StringRef before = image.take_front(at),
              after = image.drop_front(at + name.size());
    if ((!before.empty() && isIdentifier(before.back())) ||
        (!after.empty() && isIdentifier(after.front())))
      continue;
    // Of PTX the statement up to the name: variables, unlike functions, aren't
    // declared by a ".globl" in a comment.
    if (isCubin ||
        before.substr(before.find_last_of(";{}\n") + 1).contains(".global"))
      return true;
  }
  return false;
}

size_t runtime::countLocalBytes(StringRef image) {
  llvm::Regex array("\\.local[^;]*\\[([0-9]+)\\]");
  size_t bytes = 0;
  llvm::SmallVector<StringRef> found;
  while (array.match(image, &found)) {
    size_t ofArray = 0;
    found[1].getAsInteger(10, ofArray);
    bytes += llvm::alignTo(ofArray, 8);
    image = image.substr(found[0].end() - image.begin());
  }
  return bytes;
}

StringRef runtime::findMissingFunction(StringRef image) {
  // What a function gives comes before its name, in parentheses.
  llvm::Regex declared(
      "\\.extern[ \t]+\\.func[ \t]*(\\([^)]*\\))?[ \t\n]*(__nv_[a-z0-9_]+)");
  llvm::SmallVector<StringRef> found;
  return declared.match(image, &found) ? found[2] : StringRef();
}
