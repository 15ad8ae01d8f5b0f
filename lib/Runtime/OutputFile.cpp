//===- OutputFile.cpp - Files that are whole or not there -----------------===//
//
// LLVM's writeToOutput would replace a device by a file, and abort the process
// when the disk is full.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runtime/OutputFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

using namespace llvm;
using namespace mlir::norm_fusion;

/// The stream's error, which it would abort with when it's destroyed.
static std::error_code takeError(raw_fd_ostream &os) {
  os.flush();
  std::error_code code = os.error();
  os.clear_error();
  return code;
}

static Error fail(StringRef path, std::error_code code) {
  if (!code)
    return Error::success();
  return createStringError(code, path + " can't be written: " + code.message());
}

static bool isSpecial(StringRef path) {
  sys::fs::file_status status;
  return !sys::fs::status(path, status) && sys::fs::exists(status) &&
         !sys::fs::is_regular_file(status) && !sys::fs::is_directory(status);
}

namespace {
/// A file that is complete, under a temporary name until keep().
class WholeFile {
public:
  static Expected<WholeFile> write(StringRef path,
                                   function_ref<void(raw_ostream &)> write);
  Error keep() { return fail(path, errorToErrorCode(file.keep(target))); }
  void discard() { consumeError(file.discard()); }

  /// Empty, for `path`, or what a link there points to.
  static Expected<WholeFile> create(StringRef path);

private:
  WholeFile(StringRef path, StringRef target, sys::fs::TempFile file)
      : path(path), target(target), file(std::move(file)) {}
  std::string path, target;
  sys::fs::TempFile file;
};
} // namespace

Expected<WholeFile> WholeFile::create(StringRef path) {
  // What a link points to is written, not the link replaced.
  SmallString<128> target;
  if (sys::fs::real_path(path, target))
    target = path;
  if (sys::fs::is_directory(target))
    return fail(path, std::make_error_code(std::errc::is_a_directory));
  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(target + ".%%%%%%.tmp");
  if (!file)
    return fail(path, errorToErrorCode(file.takeError()));
  return WholeFile(path, target, std::move(*file));
}

Expected<WholeFile> WholeFile::write(StringRef path,
                                     function_ref<void(raw_ostream &)> write) {
  Expected<WholeFile> whole = create(path);
  if (!whole)
    return whole;
  raw_fd_ostream os(whole->file.FD, /*shouldClose=*/false);
  write(os);
  if (std::error_code code = takeError(os)) {
    whole->discard();
    return fail(path, code);
  }
  return whole;
}

Error runtime::writeFile(StringRef path,
                         function_ref<void(raw_ostream &)> write) {
  if (path == "-" || isSpecial(path)) {
    std::error_code code;
    raw_fd_ostream os(path, code);
    if (code)
      return fail(path, code);
    write(os);
    return fail(path, takeError(os));
  }
  Expected<WholeFile> file = WholeFile::write(path, write);
  return file ? file->keep() : file.takeError();
}

Error runtime::writeFiles(ArrayRef<std::pair<std::string, StringRef>> files) {
  std::vector<WholeFile> written;
  for (const auto &[path, contents] : files) {
    Expected<WholeFile> file = WholeFile::write(
        path, [&, text = contents](raw_ostream &os) { os << text; });
    if (!file) {
      for (WholeFile &before : written)
        before.discard();
      return file.takeError();
    }
    written.push_back(std::move(*file));
  }
  Error error = Error::success();
  for (WholeFile &file : written) {
    if (error)
      file.discard();
    else
      error = file.keep();
  }
  return error;
}

Error runtime::checkWritable(StringRef path) {
  if (path == "-")
    return Error::success();
  if (isSpecial(path))
    return fail(path, sys::fs::access(path, sys::fs::AccessMode::Write));
  // Folders, rights, file systems and lengths of names have their say.
  Expected<WholeFile> file = WholeFile::create(path);
  if (!file)
    return file.takeError();
  file->discard();
  return Error::success();
}

std::string runtime::getRealFile(StringRef path) {
  if (path == "-" || isSpecial(path))
    return {};
  SmallString<128> file;
  StringRef folder = sys::path::parent_path(path);
  if (sys::fs::real_path(path, file) &&
      !sys::fs::real_path(folder.empty() ? "." : folder, file))
    sys::path::append(file, sys::path::filename(path));
  return std::string(file);
}
