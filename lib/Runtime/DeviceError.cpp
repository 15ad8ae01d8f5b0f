//===- DeviceError.cpp - Errors of devices, options of the emulator -------===//
//
// The small parts that both devices share.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runtime/Device.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdlib>

using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runtime;

char DeviceError::ID = 0;

void DeviceError::log(llvm::raw_ostream &os) const { os << text; }

std::error_code DeviceError::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

llvm::Error runtime::makeError(ErrorKind kind, const llvm::Twine &message) {
  return llvm::make_error<DeviceError>(kind, message.str());
}

llvm::Error runtime::checkArgumentCount(const LaunchConfig &config,
                                        llvm::StringRef kernel, size_t taken,
                                        size_t given) {
  if (!config.countsArguments || given == taken)
    return llvm::Error::success();
  return makeError(ErrorKind::other, "kernel " + kernel + " takes " +
                                         llvm::Twine(taken) + " arguments, " +
                                         llvm::Twine(given) + " were given");
}

double runtime::getKernelTimeout(double byDefault) {
  double seconds;
  if (const char *text = getenv("NORM_FUSION_KERNEL_TIMEOUT"))
    if (!llvm::StringRef(text).getAsDouble(seconds) && seconds > 0)
      return std::min(seconds, 1e9);
  return byDefault;
}

std::string runtime::describeHang(double seconds) {
  std::string text;
  llvm::raw_string_ostream(text)
      << "hung: not finished after " << llvm::format("%g", seconds)
      << " s; set NORM_FUSION_KERNEL_TIMEOUT to wait longer";
  return text;
}

std::string runtime::hashImage(llvm::ArrayRef<char> image) {
  llvm::StringRef bytes(image.data(), image.size());
  return llvm::toHex(
      llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)));
}

llvm::Expected<EmulatorOptions> EmulatorOptions::parse(llvm::StringRef text) {
  EmulatorOptions options;
  llvm::SmallVector<llvm::StringRef> fields;
  llvm::SplitString(text, fields, " \t\n,");
  llvm::StringSet<> seen;
  for (llvm::StringRef field : fields) {
    auto [key, value] = field.split('=');
    if (!seen.insert(key).second)
      return llvm::createStringError("emulator option '" + key +
                                     "' is given twice");
    uint64_t number;
    if (value.getAsInteger(10, number))
      return llvm::createStringError("emulator option '" + field +
                                     "': expected key=number, from 0 to " +
                                     llvm::Twine(UINT64_MAX));
    uint64_t low = 0, high = UINT64_MAX;
    if (key == "sms" || key == "max-cluster")
      low = 1, high = 4096;
    else if (key == "shared-memory")
      high = 1 << 30;
    else if (key == "memory")
      high = size_t(1) << 44;
    else if (key == "races")
      high = 1;
    else if (key == "spill-threads")
      high = 1024;
    if (number < low || number > high)
      return llvm::createStringError("emulator option '" + field +
                                     "': expected " + llvm::Twine(low) +
                                     " to " + llvm::Twine(high));
    if (key == "sms")
      options.sms = number;
    else if (key == "shared-memory")
      options.sharedMemory = number;
    else if (key == "max-cluster")
      options.maxCluster = number;
    else if (key == "order-seed")
      options.orderSeed = number;
    else if (key == "races")
      options.races = number;
    else if (key == "weak")
      options.weak = number;
    else if (key == "memory")
      options.memory = number;
    else if (key == "spill-threads")
      options.spillThreads = number;
    else
      return llvm::createStringError(
          "unknown emulator option '" + key +
          "'; known are sms, shared-memory, memory, max-cluster, order-seed, "
          "races, weak, spill-threads");
  }
  return options;
}
