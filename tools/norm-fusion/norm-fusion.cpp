//===- norm-fusion.cpp - Both tools in one static file --------------------===//
//
// Of the `static` preset: acts as norm-fusion-opt or norm-fusion-runner by the
// name that it is called by, or by its first argument, `opt` or `runner`. To be
// carried to a machine that has no LLVM.
//
//===----------------------------------------------------------------------===//

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

int normFusionOptMain(int argc, char **argv);
int normFusionRunnerMain(int argc, char **argv);

int main(int argc, char **argv) {
  llvm::StringRef name = llvm::sys::path::filename(argv[0]);
  if (name.ends_with("opt"))
    return normFusionOptMain(argc, argv);
  if (name.ends_with("runner"))
    return normFusionRunnerMain(argc, argv);
  llvm::StringRef tool = argc > 1 ? argv[1] : "";
  if (tool == "opt")
    return normFusionOptMain(argc - 1, argv + 1);
  if (tool == "runner")
    return normFusionRunnerMain(argc - 1, argv + 1);
  llvm::errs() << "norm-fusion: expected 'opt' or 'runner' as the first "
                  "argument or as the end of the program's name, found '"
               << tool << "'\n";
  return 2;
}
