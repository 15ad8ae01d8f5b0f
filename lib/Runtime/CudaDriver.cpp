//===- CudaDriver.cpp - Opening the CUDA driver ---------------------------===//
//
// Looks the driver's functions up at run time, and turns its results into
// errors that say what to do.
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"

#include "norm_fusion/Runtime/Device.h"
#include <dlfcn.h>
#include <mutex>

using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runtime;
using namespace mlir::norm_fusion::runtime::cuda;

/// cuLaunchKernelEx and clusters came with 11.8; what upstream compiles for
/// Hopper (PTX 8.0) needs 12.0.
static constexpr int neededVersion = 12000;

static std::string spell(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

/// What went wrong while opening, for every later caller too.
static std::string openDriver(Driver &driver) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return "no driver: " + std::string(dlerror()) +
           "; install the NVIDIA driver or use --device=emulator";
  auto find = [&](const char *symbol) { return dlsym(library, symbol); };
  driver.driverGetVersion = reinterpret_cast<decltype(driver.driverGetVersion)>(
      find("cuDriverGetVersion"));
  if (!driver.driverGetVersion || driver.driverGetVersion(&driver.version))
    return "libcuda.so.1 isn't a CUDA driver; install the NVIDIA driver or use "
           "--device=emulator";
  if (driver.version < neededVersion)
    return "driver " + spell(driver.version) + " is too old, " +
           spell(neededVersion) +
           " or newer is needed; update the NVIDIA "
           "driver or use --device=emulator";
#define F(symbol, name, arguments)                                             \
  driver.name = reinterpret_cast<Result(*) arguments>(find(#symbol));          \
  if (!driver.name)                                                            \
    return "driver " + spell(driver.version) +                                 \
           " lacks " #symbol "; update the NVIDIA driver or use "              \
           "--device=emulator";
  NORM_FUSION_CUDA_FUNCTIONS(F)
#undef F
  if (Result result = driver.init(0)) {
    const char *name = nullptr;
    driver.getErrorName(result, &name);
    return std::string("the CUDA driver can't start (") +
           (name ? name : "unknown error") +
           "); check nvidia-smi or use --device=emulator";
  }
  return "";
}

llvm::Expected<const Driver *> Driver::get() {
  static std::once_flag once;
  static Driver driver;
  static std::string failure;
  std::call_once(once, [] { failure = openDriver(driver); });
  if (!failure.empty())
    return llvm::make_error<DeviceError>(ErrorKind::noDevice, failure);
  return &driver;
}

llvm::Error Driver::makeError(Result result, const llvm::Twine &what) const {
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  std::string message = (what + ": " + (text ? text : "unknown error") + " (" +
                         (name ? name : std::to_string(result).c_str()) + ")")
                            .str();
  ErrorKind kind = ErrorKind::other;
  switch (result) {
  case outOfMemory:
    kind = ErrorKind::outOfMemory;
    break;
  case noDevice:
  case invalidDevice:
    kind = ErrorKind::noDevice;
    break;
  case noBinaryForGPU:
  case unsupportedPtx:
  case invalidPtx:
    message += "; compiled for another chip, or the driver (" + spell(version) +
               ") is too old for this code";
    break;
  case cooperativeTooLarge:
    message += "; cooperative launch too large, use fewer blocks";
    kind = ErrorKind::kernelFailed;
    break;
  case illegalAddress:
  case outOfResources:
  case launchTimeout:
  case assertFailed:
  case hardwareStackError:
  case illegalInstruction:
  case misalignedAddress:
  case invalidAddressSpace:
  case invalidProgramCounter:
  case launchFailed:
    kind = ErrorKind::kernelFailed;
    break;
  default:
    break;
  }
  return llvm::make_error<DeviceError>(kind, std::move(message));
}
