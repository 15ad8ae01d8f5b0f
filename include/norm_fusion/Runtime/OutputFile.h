//===- OutputFile.h - Files that are whole or not there ---------*- C++ -*-===//

#ifndef NORM_FUSION_RUNTIME_OUTPUTFILE_H
#define NORM_FUSION_RUNTIME_OUTPUTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>

namespace mlir::norm_fusion::runtime {

/// Writes to a temporary name and renames: what was there stays until the new
/// contents are complete. Devices, pipes and "-" are written directly.
llvm::Error writeFile(llvm::StringRef path,
                      llvm::function_ref<void(llvm::raw_ostream &)> write);

/// As writeFile() of several files, each with its contents, of which the last
/// refers to the others: the first is renamed when all are complete.
llvm::Error
writeFiles(llvm::ArrayRef<std::pair<std::string, llvm::StringRef>> files);

/// Fails if `path` couldn't be written; leaves nothing. To be asked before
/// hours of work go into the contents.
llvm::Error checkWritable(llvm::StringRef path);

/// The one name of the file that `path` is, there or not; empty for what isn't
/// a regular file, and "-".
std::string getRealFile(llvm::StringRef path);

} // namespace mlir::norm_fusion::runtime

#endif // NORM_FUSION_RUNTIME_OUTPUTFILE_H
