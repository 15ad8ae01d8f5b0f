//===- BundleReader.cpp - Running a bundle --------------------------------===//
//
// Needs the manifest, the images and a device, and no compiler: evaluates the
// manifest's formulas and launches. A bundle may come from anywhere, so nothing
// in it is believed before it's checked.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/Bundle.h"
#include "norm_fusion/Runner/Error.h"
#include "norm_fusion/Runner/Execute.h"
#include "norm_fusion/Runner/Formula.h"
#include "norm_fusion/Runner/HostRuntime.h"
#include "norm_fusion/Runtime/Workspace.h"
#include "norm_fusion/Schedule/JSON.h"
#include "norm_fusion/Schedule/TargetInfo.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include <cstring>

using namespace mlir;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runner;
using llvm::Error;
using llvm::Expected;
namespace json = llvm::json;

static Error fail(const Twine &message,
                  StringRef wayOut = "emit the bundle again") {
  return makeError(ExitCode::badInput,
                   "the bundle's manifest " + message + "; " + wayOut);
}

bool mlir::norm_fusion::runner::isBundle(StringRef path) {
  return path != "-" && llvm::sys::fs::is_directory(path);
}

bool mlir::norm_fusion::runner::isBundleFile(StringRef name) {
  StringRef extension = llvm::sys::path::extension(name);
  return name == "manifest.json" || extension == ".ptx" || extension == ".o";
}

static Expected<ValueType> readType(const json::Object *object) {
  if (!object)
    return fail("lacks a type");
  ValueType type;
  std::optional<runtime::ElementType> element =
      runtime::parseElementType(object->getString("dtype").value_or(""));
  const json::Array *shape = object->getArray("shape");
  if (!element || !shape)
    return fail("has a type without dtype or shape");
  type.type = *element;
  type.isScalar = object->getBoolean("scalar").value_or(false);
  for (const json::Value &size : *shape) {
    std::optional<int64_t> number = size.getAsInteger();
    if (number ? *number < 0 : !size.getAsNull())
      return fail("has a shape that isn't one");
    type.shape.push_back(number.value_or(ShapedType::kDynamic));
  }
  return type;
}

static Expected<std::string> readText(const Twine &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError(ExitCode::badInput,
                     path + ": " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

Error mlir::norm_fusion::runner::checkBundleFolder(StringRef folder) {
  std::string path = (folder + "/manifest.json").str();
  if (!llvm::sys::fs::exists(path))
    return Error::success();
  Expected<std::string> text = readText(path);
  if (!text)
    return text.takeError();
  // Of any version: what emitting again is for.
  Expected<json::Value> manifest = parseJSON(*text);
  if (!manifest)
    llvm::consumeError(manifest.takeError());
  else if (json::Object *object = manifest->getAsObject();
           object && object->getInteger("schema") &&
           object->getString("source_sha256"))
    return Error::success();
  return makeError(ExitCode::badInput,
                   "'" + path +
                       "' is there, and isn't a bundle's manifest; "
                       "give another folder, or remove it");
}

llvm::StringMap<std::string>
mlir::norm_fusion::runner::getBundleFiles(StringRef folder) {
  llvm::StringMap<std::string> hashes;
  Expected<std::string> text = readText(folder + "/manifest.json");
  Expected<json::Value> manifest =
      text ? parseJSON(*text) : Expected<json::Value>(text.takeError());
  if (!manifest) {
    llvm::consumeError(manifest.takeError());
    return hashes;
  }
  const json::Object *object = manifest->getAsObject();
  if (const json::Array *files = object ? object->getArray("files") : nullptr)
    for (const json::Value &entry : *files)
      if (const json::Object *file = entry.getAsObject())
        hashes[file->getString("name").value_or("")] =
            file->getString("sha256").value_or("");
  return hashes;
}

Expected<Bundle> mlir::norm_fusion::runner::readBundle(StringRef folder) {
  Expected<std::string> text = readText(folder + "/manifest.json");
  if (!text)
    return text.takeError();
  Expected<json::Value> value = parseJSON(*text);
  if (!value)
    return fail("isn't JSON: " + llvm::toString(value.takeError()),
                "emit the bundle into another folder");
  json::Object *object = value->getAsObject();
  if (!object || !object->getInteger("schema"))
    return fail("has no schema", "emit the bundle into another folder");
  if (object->getInteger("schema") != 1)
    return fail("has another schema than 1");
  Bundle bundle;
  bundle.manifest = std::move(*object);
  const json::Object &manifest = bundle.manifest;
  for (StringRef key : {"arguments", "results", "files", "kernels", "buffers",
                        "workspaces", "requires"})
    if (!manifest.getArray(key))
      return fail("lacks '" + key + "'");
  if (manifest.getArray("kernels")->empty())
    return fail("has no kernels");
  auto failAt = [](const json::Object &object, StringRef key,
                   const Twine &expected) {
    const json::Value *found = object.get(key);
    return fail("has " +
                (found ? llvm::formatv("'{0}': {1}", key, *found).str()
                       : ("no '" + key + "'").str()) +
                ", expected " + expected);
  };
  std::optional<StringRef> entry = manifest.getString("entry");
  if (!entry)
    return failAt(manifest, "entry", "a function's name");
  bundle.signature.name = entry->str();
  StringRef chip = manifest.getString("chip").value_or("");
  if (!TargetInfo::get(chip))
    return failAt(manifest, "chip", TargetInfo::chips);
  bundle.chip = chip.str();
  StringRef target = manifest.getString("target").value_or("");
  if (target != "emulator" && target != "cuda")
    return failAt(manifest, "target", "cuda or emulator");
  bundle.emulator = target == "emulator";
  std::optional<int64_t> fused = manifest.getInteger("fused");
  if (!fused || !llvm::isUInt<32>(*fused))
    return failAt(manifest, "fused", "a number of groups");
  bundle.fused = *fused;
  json::Array names;
  for (const json::Value &kernel : *manifest.getArray("kernels"))
    if (const json::Object *fields = kernel.getAsObject())
      names.push_back(fields->getString("name").value_or(""));
  const json::Array *order = manifest.getArray("launch_order");
  if (!order || *order != names)
    return failAt(manifest, "launch_order",
                  "the names of its kernels in their order");
  // The rest of a kernel is looked at where it's launched.
  for (const json::Value &kernel : *manifest.getArray("kernels"))
    for (StringRef key : {"cooperative", "programmatic_dependent"})
      if (const json::Object *fields = kernel.getAsObject();
          fields && fields->get(key) && !fields->getBoolean(key))
        return failAt(*fields, key, "true or false");
  for (const json::Value &argument : *manifest.getArray("arguments")) {
    Expected<ValueType> type = readType(argument.getAsObject());
    if (!type)
      return type.takeError();
    bundle.signature.arguments.push_back(*type);
  }
  for (const json::Value &result : *manifest.getArray("results")) {
    const json::Object *fields = result.getAsObject();
    Expected<ValueType> type =
        readType(fields ? fields->getObject("type") : nullptr);
    if (!type)
      return type.takeError();
    bundle.signature.results.push_back(*type);
  }
  for (const json::Value &entry : *manifest.getArray("files")) {
    const json::Object *file = entry.getAsObject();
    StringRef name = file ? file->getString("name").value_or("") : "";
    // A name, not a way out of the folder.
    if (name.empty() || llvm::sys::path::filename(name) != name)
      return fail("names a file '" + name + "'");
    Expected<std::string> image = readText(folder + "/" + name);
    if (!image)
      return image.takeError();
    std::string hash = llvm::toHex(
        llvm::SHA256::hash(llvm::arrayRefFromStringRef(*image)), true);
    if (file->getString("sha256") != StringRef(hash))
      return makeError(ExitCode::badInput,
                       folder + "/" + name + ": its hash isn't the manifest's; "
                                             "emit the bundle again");
    bundle.images[name] = std::move(*image);
  }
  return std::move(bundle);
}

namespace {
/// A loaded bundle: calls evaluate the manifest.
class BundleProgram final : public Program {
public:
  BundleProgram(const Bundle &bundle) : bundle(bundle) {}
  ~BundleProgram() override {
    for (auto &workspace : workspaces)
      workspace.second.release(*device);
  }
  Error load(runtime::Device &device);

private:
  Expected<std::vector<PlacedResult>>
  callEntry(ArrayRef<PlacedArgument> arguments, Arena &arena,
            bool capturing) override;
  Expected<int64_t> get(const json::Value *formula);
  Error launch(const json::Object &kernel);

  const Bundle &bundle;
  llvm::StringMap<runtime::KernelHandle> kernels;
  llvm::StringMap<runtime::Workspace> workspaces;
  llvm::StringMap<int64_t> values; ///< of the call that is under way
};
} // namespace

Error BundleProgram::load(runtime::Device &to) {
  if (to.isEmulator() != bundle.emulator)
    return makeError(ExitCode::noDevice,
                     bundle.emulator
                         ? "the bundle is for the emulator; use "
                           "--device=emulator"
                         : "the bundle is for a GPU, found the emulator; use "
                           "--device=cuda on a machine that has one");
  if (Error error = attach(bundle.signature, &to))
    return error;
  hostVisible = false;
  for (const json::Value &entry : *bundle.manifest.getArray("kernels")) {
    const json::Object *kernel = entry.getAsObject();
    StringRef name = kernel ? kernel->getString("name").value_or("") : "";
    auto image = bundle.images.find(
        kernel ? kernel->getString("file").value_or("") : "");
    if (name.empty() || image == bundle.images.end())
      return fail("has a kernel without a name or a file");
    // PTX is passed with its terminating zero.
    const std::string &bytes = image->second;
    Expected<runtime::ModuleHandle> module = device->loadModule(
        ArrayRef<char>(bytes.c_str(), bytes.size() + !bundle.emulator));
    if (!module)
      return module.takeError();
    Expected<runtime::KernelHandle> handle = device->getKernel(*module, name);
    if (!handle)
      return handle.takeError();
    kernels[name] = *handle;
  }
  return Error::success();
}

Expected<int64_t> BundleProgram::get(const json::Value *formula) {
  std::optional<StringRef> text;
  if (formula)
    text = formula->getAsString();
  if (!text)
    return fail("lacks a formula");
  return evaluate(*text, [&](StringRef name, ArrayRef<int64_t> arguments)
                             -> std::optional<int64_t> {
    if (name == "multiprocessors" && arguments.empty())
      return device->getProperties().multiprocessors;
    if (name == "max_active_clusters" && arguments.size() == 2)
      return runtime::getMaxActiveClusters(*device, arguments[0], arguments[1]);
    auto value = values.find(name);
    if (value == values.end() || !arguments.empty())
      return std::nullopt;
    return value->second;
  });
}

Error BundleProgram::launch(const json::Object &kernel) {
  Expected<int64_t> when = get(kernel.get("when"));
  if (!when)
    return when.takeError();
  if (!*when)
    return Error::success();
  uint64_t workspaceBytes = 0;
  if (std::optional<StringRef> name = kernel.getString("workspace"))
    for (const json::Value &entry : *bundle.manifest.getArray("workspaces")) {
      const json::Object *workspace = entry.getAsObject();
      if (!workspace || workspace->getString("name") != *name)
        continue;
      Expected<int64_t> bytes = get(workspace->get("bytes"));
      if (!bytes)
        return bytes.takeError();
      if (*bytes < 0)
        return fail("has a workspace of " + Twine(*bytes) + " bytes");
      Expected<void *> memory = workspaces[*name].get(*device, stream, *bytes);
      if (!memory)
        return memory.takeError();
      values[*name] = reinterpret_cast<int64_t>(*memory);
      workspaceBytes = *bytes;
    }
  runtime::LaunchConfig config;
  auto getDim = [&](StringRef key, runtime::Dim3 &dim) -> Error {
    const json::Array *formulas = kernel.getArray(key);
    if (!formulas || formulas->size() != 3)
      return fail("has a kernel without three sizes of '" + key + "'");
    unsigned *sizes[] = {&dim.x, &dim.y, &dim.z};
    for (unsigned i = 0; i < 3; ++i) {
      Expected<int64_t> value = get(&(*formulas)[i]);
      if (!value)
        return value.takeError();
      if (!llvm::isUInt<32>(*value))
        return fail("has a kernel with " + std::to_string(*value) +
                    " for a size of '" + key.str() + "', expected 32 bits");
      *sizes[i] = *value;
    }
    return Error::success();
  };
  if (Error error = getDim("grid", config.grid))
    return error;
  if (Error error = getDim("block", config.block))
    return error;
  if (Error error = getDim("cluster", config.cluster))
    return error;
  Expected<int64_t> shared = get(kernel.get("shared_memory_bytes"));
  if (!shared)
    return shared.takeError();
  if (!llvm::isUInt<32>(*shared))
    return fail("has a kernel with " + std::to_string(*shared) +
                " bytes of shared memory, expected 32 bits");
  config.dynamicSharedMemory = *shared;
  config.cooperative = kernel.getBoolean("cooperative").value_or(false);
  config.programmaticDependent =
      kernel.getBoolean("programmatic_dependent").value_or(false);
  if (!config.grid.x || !config.grid.y || !config.grid.z)
    return Error::success();

  const json::Array *arguments = kernel.getArray("arguments");
  if (!arguments)
    return fail("has a kernel without arguments");
  std::vector<int64_t> words;
  for (const json::Value &argument : *arguments) {
    const json::Object *fields = argument.getAsObject();
    Expected<int64_t> word = get(fields ? fields->get("value") : nullptr);
    if (!word)
      return word.takeError();
    words.push_back(*word);
  }
  std::vector<void *> pointers;
  for (int64_t &word : words)
    pointers.push_back(&word);
  StringRef name = *kernel.getString("name");
  runtime::KernelHandle handle = kernels[name];
  recordLaunch({name.str(), handle, config, workspaceBytes});
  return device->launch(handle, config, pointers, stream);
}

/// As formulas have it: integers extended with their sign, i1 and floats' bits
/// with zeros.
static int64_t getScalar(const void *pointer, runtime::ElementType type) {
  unsigned bits = 8 * getByteSize(type);
  uint64_t value = 0;
  std::memcpy(&value, pointer, getByteSize(type));
  bool isExtended = !isFloat(type) && type != runtime::ElementType::i1;
  return isExtended ? llvm::SignExtend64(value, bits) : int64_t(value);
}

Expected<std::vector<PlacedResult>>
BundleProgram::callEntry(ArrayRef<PlacedArgument> arguments, Arena &arena,
                         bool capturing) {
  values.clear();
  // Address and bytes of everything that a result may be in.
  std::vector<std::pair<uint64_t, uint64_t>> memory;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    std::string name = "arg" + std::to_string(i);
    int64_t value = reinterpret_cast<int64_t>(argument.pointer);
    if (signature.arguments[i].isScalar) {
      value = getScalar(argument.pointer, signature.arguments[i].type);
    } else {
      memory.push_back({value, getByteCount(signature.arguments[i].type,
                                            argument.shape)
                                   .value_or(0)});
    }
    values[name] = value;
    for (auto [d, size] : llvm::enumerate(argument.shape))
      values[name + ".dim" + std::to_string(d)] = size;
  }
  for (const json::Value &entry : *bundle.manifest.getArray("requires")) {
    const json::Object *condition = entry.getAsObject();
    Expected<int64_t> holds =
        get(condition ? condition->get("condition") : nullptr);
    if (!holds)
      return holds.takeError();
    if (!*holds)
      return makeError(ExitCode::badInput,
                       "the module asserts: " +
                           condition->getString("message").value_or("") +
                           "; check the sizes of the inputs");
  }
  for (const json::Value &entry : *bundle.manifest.getArray("buffers")) {
    const json::Object *buffer = entry.getAsObject();
    Expected<int64_t> bytes = get(buffer ? buffer->get("bytes") : nullptr);
    if (!bytes)
      return bytes.takeError();
    if (*bytes < 0)
      return fail("has a buffer of a negative size");
    Expected<void *> pointer = arena.allocate(*bytes);
    if (!pointer)
      return pointer.takeError();
    int64_t address = reinterpret_cast<int64_t>(*pointer);
    values[buffer->getString("name").value_or("")] = address;
    memory.push_back({address, *bytes});
  }
  for (const json::Value &kernel : *bundle.manifest.getArray("kernels"))
    if (Error error = launch(*kernel.getAsObject()))
      return std::move(error);
  if (!capturing)
    if (Error error = device->synchronize(stream))
      return std::move(error);

  std::vector<PlacedResult> results;
  for (const json::Value &entry : *bundle.manifest.getArray("results")) {
    const json::Object &fields = *entry.getAsObject();
    Expected<int64_t> address = get(fields.get("value"));
    const json::Array *shape = fields.getArray("shape");
    if (!address)
      return address.takeError();
    if (!shape)
      return fail("has a result without a shape");
    PlacedResult result;
    result.pointer = reinterpret_cast<void *>(*address);
    std::memcpy(result.scalar.data(), &*address, 8);
    for (const json::Value &formula : *shape) {
      Expected<int64_t> size = get(&formula);
      if (!size)
        return size.takeError();
      if (*size < 0)
        return fail("has a result of a negative size");
      result.shape.push_back(*size);
    }
    const ValueType &type = signature.results[results.size()];
    auto agrees = [](int64_t known, int64_t size) {
      return ShapedType::isDynamic(known) || known == size;
    };
    if (type.shape.size() != result.shape.size() ||
        !llvm::all_of_zip(type.shape, result.shape, agrees))
      return fail("has a result whose shape isn't its type's");
    std::optional<size_t> bytes = getByteCount(type.type, result.shape);
    uint64_t start = *address;
    if (!type.isScalar && (!bytes || llvm::none_of(memory, [&](auto range) {
          return start >= range.first && *bytes <= range.second &&
                 start - range.first <= range.second - *bytes;
        })))
      return fail("has a result outside of its arguments and buffers");
    int64_t stride = 1;
    result.strides.resize(result.shape.size());
    for (size_t d = result.shape.size(); d-- > 0;) {
      result.strides[d] = stride;
      stride *= result.shape[d];
    }
    results.push_back(std::move(result));
  }
  return results;
}

Expected<std::unique_ptr<Program>>
mlir::norm_fusion::runner::loadBundle(const Bundle &bundle,
                                      runtime::Device &device) {
  auto program = std::make_unique<BundleProgram>(bundle);
  if (Error error = program->load(device))
    return std::move(error);
  return std::unique_ptr<Program>(std::move(program));
}
