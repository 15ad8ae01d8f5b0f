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

/// From the name of kernel `kernel` of PTX on, to the next kernel; else empty.
static StringRef getKernelText(StringRef image, StringRef kernel) {
  size_t entry = image.find((".entry " + kernel + "(").str());
  if (entry == StringRef::npos)
    return {};
  size_t name = entry + StringRef(".entry ").size();
  return image.slice(name, image.find(".entry ", name));
}

std::optional<size_t> runtime::countParameters(StringRef image,
                                               StringRef kernel) {
  StringRef text = getKernelText(image, kernel);
  if (text.empty())
    return std::nullopt;
  return text.take_until([](char c) { return c == ')'; }).count(".param ");
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
    // Of PTX what declares the name: variables, unlike functions, aren't
    // announced by a ".globl" in a comment.
    StringRef declaration = before.substr(before.find_last_of(";{}()=\n") + 1);
    if (isCubin || (declaration.contains(".global") &&
                    llvm::all_of(declaration, [](char c) {
                      return llvm::isPrint(c) || llvm::isSpace(c);
                    })))
      return true;
  }
  return false;
}

size_t runtime::countLocalBytes(StringRef image, StringRef kernel) {
  StringRef text = getKernelText(image, kernel);
  if (!text.contains(".local"))
    return 0;
  llvm::Regex array("\\.local[^;]*\\[([0-9]+)\\]");
  size_t bytes = 0;
  llvm::SmallVector<StringRef> found;
  while (array.match(text, &found)) {
    size_t ofArray = 0;
    found[1].getAsInteger(10, ofArray);
    bytes += llvm::alignTo(ofArray, 8);
    text = text.substr(found[0].end() - text.begin());
  }
  return bytes;
}

StringRef runtime::findMissingFunction(StringRef image) {
  if (!image.contains("__nv_")) // a regular expression takes its time
    return {};
  // What a function gives comes before its name, in parentheses.
  llvm::Regex declared(
      "\\.extern[ \t]+\\.func[ \t]*(\\([^)]*\\))?[ \t\n]*(__nv_[a-z0-9_]+)");
  llvm::SmallVector<StringRef> found;
  return declared.match(image, &found) ? found[2] : StringRef();
}
