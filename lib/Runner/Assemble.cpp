//===- Assemble.cpp - What ptxas makes of kernels -------------------------===//

#include "norm_fusion/Runner/Assemble.h"

#include "norm_fusion/Runner/Stopwatch.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Target/LLVM/NVVM/Utils.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <list>

using namespace mlir;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runner;

/// From PATH, or from the folder that CUDA_ROOT, CUDA_HOME or CUDA_PATH name.
static std::string findAssembler() {
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  SmallString<128> folder(NVVM::getCUDAToolkitPath());
  if (folder.empty())
    return {};
  llvm::sys::path::append(folder, "bin");
  auto found = llvm::sys::findProgramByName("ptxas", {folder.str()});
  return found ? *found : std::string();
}

/// Reads what `ptxas -v` says of a kernel: what it spills, and its registers. A
/// stack may hold arrays, too, and a byte of it may be stored to twice.
static void readUsage(StringRef output, CompiledModule &compiled) {
  llvm::Regex entry("Compiling entry function '([^']+)'"),
      function("Function properties for ([^ ]+)"),
      stack("([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores"),
      used("Used ([0-9]+) registers");
  auto kernel = compiled.kernels.end();
  StringRef described;
  SmallVector<StringRef> lines, found;
  output.split(lines, '\n');
  for (StringRef line : lines) {
    int64_t number, stores;
    if (entry.match(line, &found))
      kernel = llvm::find_if(compiled.kernels, [&](const KernelRecord &k) {
        return k.name == found[1];
      });
    else if (function.match(line, &found))
      described = found[1].trim();
    else if (kernel == compiled.kernels.end())
      continue;
    else if (described == kernel->name && stack.match(line, &found) &&
             !found[1].getAsInteger(10, number) &&
             !found[2].getAsInteger(10, stores))
      kernel->fields["spill_bytes"] = std::min(number, stores);
    else if (used.match(line, &found) && !found[1].getAsInteger(10, number))
      kernel->fields["registers"] = number;
  }
}

namespace {
/// Removes a file in the end, or when a signal ends the process.
class TemporaryFile {
public:
  explicit TemporaryFile(StringRef path) : path(path) {
    llvm::sys::RemoveFileOnSignal(path);
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile() {
    llvm::sys::fs::remove(path);
    llvm::sys::DontRemoveFileOnSignal(path);
  }

private:
  std::string path;
};
} // namespace

double mlir::norm_fusion::runner::assembleKernels(CompiledModule &compiled,
                                                  StringRef chip) {
  std::string assembler = findAssembler();
  if (assembler.empty())
    return 0;
  Stopwatch watch;
  std::list<TemporaryFile> files;
  auto addFile = [&](StringRef extension) -> std::optional<std::string> {
    SmallString<128> path;
    if (llvm::sys::fs::createTemporaryFile("norm-fusion", extension, path))
      return std::nullopt;
    files.emplace_back(path);
    return std::string(path);
  };

  struct Process {
    llvm::sys::ProcessInfo info;
    std::string output;
  };
  SmallVector<Process> processes; // side by side
  std::string refusal;
  std::string arch = ("-arch=" + chip).str();
  for (auto binary : compiled.module->getOps<gpu::BinaryOp>()) {
    auto object = dyn_cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    auto ptx = addFile("ptx"), cubin = addFile("cubin"),
         output = addFile("txt");
    if (!object || !ptx || !cubin || !output) {
      refusal = "no temporary file";
      continue;
    }
    std::error_code code;
    llvm::raw_fd_ostream os(*ptx, code);
    if (code) {
      refusal = code.message();
      continue;
    }
    os << object.getObject().getValue().rtrim('\0');
    os.close();
    if (os.has_error()) { // no space, say: nothing is known then
      os.clear_error();
      refusal = "its input can't be written";
      continue;
    }
    std::optional<StringRef> redirects[] = {StringRef(), StringRef(*output),
                                            StringRef(*output)};
    processes.push_back(
        {llvm::sys::ExecuteNoWait(assembler,
                                  {assembler, "-v", arch, *ptx, "-o", *cubin},
                                  /*Env=*/std::nullopt, redirects),
         *output});
  }
  for (Process &process : processes) {
    int status = -1;
    if (process.info.Pid)
      status = llvm::sys::Wait(process.info, /*SecondsToWait=*/std::nullopt)
                   .ReturnCode;
    auto buffer = llvm::MemoryBuffer::getFile(process.output);
    StringRef text = buffer ? (*buffer)->getBuffer() : "";
    if (status == 0)
      readUsage(text, compiled);
    else if (text.trim().empty())
      refusal = "exit status " + std::to_string(status);
    else
      refusal = text.split('\n').first.trim();
  }
  if (!refusal.empty())
    llvm::errs()
        << "norm-fusion-runner: warning: " << assembler
        << " didn't take all kernels, so whether they spill isn't known: "
        << refusal << "\n";
  return watch.getMs();
}
