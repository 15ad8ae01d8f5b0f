//===- Execute.h - Calling what was compiled --------------------*- C++ -*-===//
//
// Compiles a lowered module for the host in this process, and calls its entry
// with tensors. Memory that a call allocates comes from an arena, which also
// makes a second call of the same arena find the same addresses: what CUDA
// graphs need.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_RUNNER_EXECUTE_H
#define NORM_FUSION_RUNNER_EXECUTE_H

#include "norm_fusion/Runner/Compile.h"
#include "norm_fusion/Runtime/Device.h"

namespace mlir::norm_fusion::runner {

/// Memory for compiled code, all of it freed at the end. Without a device it is
/// the host's.
class Arena {
public:
  /// `hostVisible`: compiled host code reads or writes the memory.
  explicit Arena(runtime::Device *device, bool hostVisible = true)
      : device(device), hostVisible(hostVisible) {}
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  llvm::Expected<void *> allocate(size_t bytes);
  /// After rewinding to a mark, the next allocations are the ones since then
  /// again, as far as their sizes are the same.
  size_t getMark() const { return next; }
  void rewind(size_t mark) { next = mark; }

private:
  struct Block {
    void *pointer;
    size_t bytes;
  };
  runtime::Device *device;
  bool hostVisible;
  std::vector<Block> blocks;
  size_t next = 0;
};

/// An argument where compiled code finds it.
struct PlacedArgument {
  void *pointer; ///< of a scalar: its value, on the host
  SmallVector<int64_t, 4> shape;
};

/// A result where compiled code left it.
struct PlacedResult {
  void *pointer = nullptr; ///< first element
  SmallVector<int64_t, 4> shape, strides;
  std::array<char, 8> scalar = {};
};

/// An entry that can be called: compiled host code, or a bundle.
class Program {
public:
  /// Compiles `module` for the host. `device` may be null: then the module
  /// launches nothing.
  static llvm::Expected<std::unique_ptr<Program>>
  create(ModuleOp module, Signature signature, runtime::Device *device,
         bool hostVisible = true);
  virtual ~Program();

  /// Calls the entry; what it allocates comes from `arena`. `capturing`: the
  /// stream only records. Gives the signature's outputs.
  llvm::Expected<std::vector<PlacedResult>>
  call(ArrayRef<PlacedArgument> arguments, Arena &arena,
       bool capturing = false);
  /// Copies tensors in, calls, copies outputs out.
  llvm::Expected<std::vector<runtime::Tensor>>
  run(ArrayRef<runtime::Tensor> arguments);
  /// Waits for the call, and copies a result of it to the host.
  llvm::Expected<runtime::Tensor> fetch(const PlacedResult &result,
                                        const ValueType &type);
  /// Copies tensors to memory of `arena`.
  llvm::Expected<std::vector<PlacedArgument>>
  place(ArrayRef<runtime::Tensor> arguments, Arena &arena);
  /// Copies tensors again to the arguments that calls may have written to.
  llvm::Error restore(ArrayRef<runtime::Tensor> arguments,
                      ArrayRef<PlacedArgument> placed);

  /// An arena for calls of this program.
  std::unique_ptr<Arena> createArena() {
    return std::make_unique<Arena>(device, hostVisible);
  }
  const Signature &getSignature() const { return signature; }
  runtime::StreamHandle getStream() { return stream; }
  /// Time that loading the kernels took that calls wanted so far.
  double getLoadMs() const { return loadMs; }

protected:
  Program() = default;
  /// call(), but for the buffers.
  virtual llvm::Expected<std::vector<PlacedResult>>
  callEntry(ArrayRef<PlacedArgument> arguments, Arena &arena,
            bool capturing) = 0;
  llvm::Error copyToMemory(void *memory, const void *data, size_t bytes);
  /// Sets the signature and the device, and creates a stream on it.
  llvm::Error attach(const Signature &signature, runtime::Device *device);

  Signature signature;
  runtime::Device *device = nullptr;
  runtime::StreamHandle stream = nullptr;
  bool hostVisible = true;
  double loadMs = 0;
};

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_EXECUTE_H
