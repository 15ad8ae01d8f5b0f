//===- DeviceError.cpp - Errors of devices, options of the emulator -------===//
//
// The small parts that both devices share.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runtime/Device.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runtime;

char DeviceError::ID = 0;

void DeviceError::log(llvm::raw_ostream &os) const { os << text; }

std::error_code DeviceError::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

llvm::Expected<EmulatorOptions> EmulatorOptions::parse(llvm::StringRef text) {
  EmulatorOptions options;
  llvm::SmallVector<llvm::StringRef> fields;
  llvm::SplitString(text, fields, " \t\n,");
  for (llvm::StringRef field : fields) {
    auto [key, value] = field.split('=');
    uint64_t number;
    if (value.getAsInteger(10, number))
      return llvm::createStringError("emulator option '" + field +
                                     "': expected key=number");
    uint64_t low = 0, high = UINT64_MAX;
    if (key == "sms" || key == "max-cluster")
      low = 1, high = 4096;
    else if (key == "shared-memory")
      high = 1 << 30;
    else if (key == "races")
      high = 1;
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
    else
      return llvm::createStringError(
          "unknown emulator option '" + key +
          "'; known are sms, shared-memory, max-cluster, order-seed, races");
  }
  return options;
}
