//===- HostFunctionsTest.cpp - mgpu* functions ----------------------------===//
//
// Calls the functions as JIT-compiled code would, on the emulator.
//
//===----------------------------------------------------------------------===//

#include "../Emulator/EmulatorTest.h"

#include <atomic>
#include <thread>

using namespace mlir::norm_fusion::runtime;

namespace {

template <typename Function> Function *find(llvm::StringRef name) {
  for (auto [symbol, address] : getHostSymbols())
    if (symbol == name)
      return reinterpret_cast<Function *>(address);
  ADD_FAILURE() << "no " << name.str();
  return nullptr;
}

class HostFunctionsTest : public EmulatorTest {};

TEST_F(HostFunctionsTest, LoadLaunchCopy) {
  std::string errors;
  auto object = compileText(wrapKernel(R"(
      %out = llvm.getelementptr %p[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %tid, %out : i32, !llvm.ptr<1>)"),
                            errors);
  ASSERT_TRUE(object) << errors;
  StreamHandle stream = *device->createStream();
  {
    HostContext context(*device, stream);
    void *module = find<void *(void *, size_t)>("mgpuModuleLoad")(
        object->data(), object->size());
    void *kernel = find<void *(void *, const char *)>("mgpuModuleGetFunction")(
        module, "k");
    ASSERT_TRUE(kernel);
    void *data = find<void *(uint64_t, void *, bool)>("mgpuMemAlloc")(
        256, nullptr, false);
    find<void(void *, unsigned, size_t, void *)>("mgpuMemset32")(data, 7, 64,
                                                                 nullptr);
    find<void(void *, unsigned short, size_t, void *)>("mgpuMemset16")(
        static_cast<char *>(data) + 130, 3, 3, nullptr);
    void *arguments[] = {&data};
    auto *launch =
        find<void(void *, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,
                  intptr_t, int32_t, void *, void **, void **, size_t)>(
            "mgpuLaunchKernel");
    launch(kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr, 1);
    launch(kernel, 0, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr, 1);
    uint32_t copy[64];
    find<void(void *, void *, size_t, void *)>("mgpuMemcpy")(copy, data, 256,
                                                             nullptr);
    EXPECT_EQ(copy[31], 31u);
    EXPECT_EQ(copy[32], 0x30007u);
    EXPECT_EQ(copy[33], 0x30003u);
    EXPECT_EQ(copy[34], 7u);
    EXPECT_EQ(find<int64_t()>("norm_fusion_multiprocessor_count")(), 16);
    EXPECT_GT(find<int64_t(int64_t, int64_t)>(
                  "norm_fusion_max_active_clusters")(2, 512),
              0);
    auto *workspace = find<void *(int64_t, int64_t)>("norm_fusion_workspace");
    auto *first = static_cast<uint32_t *>(workspace(1024, 0));
    EXPECT_EQ(first[255], 0u);
    first[0] = 5;
    EXPECT_EQ(workspace(1024, 0), first);
    EXPECT_NE(workspace(1024, 1), first);
    // A graph may have the address of one that was too small.
    auto *larger = static_cast<uint32_t *>(workspace(4096, 0));
    EXPECT_NE(larger, first);
    EXPECT_EQ(larger[1023], 0u);
    EXPECT_EQ(first[0], 5u);
    EXPECT_EQ(workspace(1024, 0), larger);
    EXPECT_EQ(llvm::toString(context.takeError()), "");
    EXPECT_EQ(context.getAllocations().size(), 1u);

    // An image is loaded when a kernel of it is wanted.
    char nonsense[] = "nonsense";
    void *image = find<void *(void *, size_t)>("mgpuModuleLoad")(
        nonsense, sizeof(nonsense));
    EXPECT_FALSE(context.hasError());
    EXPECT_FALSE(find<void *(void *, const char *)>("mgpuModuleGetFunction")(
        image, "k"));
    EXPECT_TRUE(
        contains(llvm::toString(context.takeError()), "can't load this image"));
    find<void(void *)>("mgpuModuleUnload")(image);

    // An object that can't be linked is refused as such each time.
    std::vector<char> object(64);
    memcpy(object.data(), "\177ELF", 4);
    for (int i = 0; i < 2; ++i) {
      std::string text = llvm::toString(device->loadModule(object).takeError());
      EXPECT_TRUE(contains(text, "can't load this image")) << text;
    }

    // The first error stays, and stops the rest.
    launch(kernel, 1, 1, 1, 3000, 1, 1, 0, nullptr, arguments, nullptr, 1);
    launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr, 1);
    EXPECT_TRUE(context.hasError());
    EXPECT_TRUE(contains(llvm::toString(context.takeError()), "3000 threads"));

    // Sizes are 32 bits: none becomes another, or nothing.
    constexpr intptr_t four = intptr_t(1) << 32;
    launch(kernel, four, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr, 1);
    EXPECT_TRUE(contains(llvm::toString(context.takeError()),
                         "a size of (4294967296,1,1), expected 32 bits each"));
    launch(kernel, 1, 1, 1, 1, four + 1, 1, 0, nullptr, arguments, nullptr, 1);
    EXPECT_TRUE(contains(llvm::toString(context.takeError()),
                         "a size of (1,4294967297,1), expected 32 bits each"));
    find<void(void *)>("mgpuModuleUnload")(module);
  }
  EXPECT_EQ(HostContext::getCurrent(), nullptr);
  device->destroyStream(stream);
}

TEST_F(HostFunctionsTest, Capture) {
  auto kernel = load(wrapKernel(R"(
      %old = llvm.atomicrmw add %p, %c1 syncscope("device") monotonic : !llvm.ptr<1>, i32
  )"));
  ASSERT_TRUE(bool(kernel));
  StreamHandle stream = *device->createStream();
  void *data = *device->allocate(4, true);
  EXPECT_EQ(llvm::toString(device->fill32(data, 0, 1, stream)), "");
  ASSERT_EQ(llvm::toString(device->beginCapture(stream)), "");
  void *pointer = data;
  void *arguments[] = {&pointer};
  for (unsigned i = 0; i < 3; ++i)
    EXPECT_EQ(
        llvm::toString(device->launch(*kernel, grid(2, 4), arguments, stream)),
        "");
  pointer = nullptr; // values were taken at the launch
  auto graph = device->endCapture(stream);
  EXPECT_EQ(*static_cast<uint32_t *>(data), 0u);
  for (unsigned i = 0; i < 2; ++i)
    EXPECT_EQ(llvm::toString(device->launchGraph(*graph, stream)), "");
  EXPECT_EQ(*static_cast<uint32_t *>(data), 48u);
  device->destroyGraph(*graph);
  device->destroyStream(stream);
}

TEST_F(HostFunctionsTest, CaptureOfSeveralThreads) {
  constexpr unsigned each = 50000, threads = 4;
  StreamHandle stream = *device->createStream();
  auto *data = static_cast<uint32_t *>(
      *device->allocate(each * threads * sizeof(uint32_t), true));
  ASSERT_EQ(llvm::toString(device->beginCapture(stream)), "");
  std::atomic<unsigned> ready = 0;
  std::vector<std::thread> others;
  for (unsigned i = 0; i < threads; ++i)
    others.emplace_back([&, words = data + i * each] {
      for (++ready; ready < threads;)
        std::this_thread::yield();
      for (unsigned k = 0; k < each; ++k)
        llvm::consumeError(device->fill32(words + k, k, 1, stream));
    });
  for (std::thread &other : others)
    other.join();
  auto graph = device->endCapture(stream);
  EXPECT_EQ(llvm::toString(device->launchGraph(*graph, stream)), "");
  unsigned wrong = 0;
  for (unsigned i = 0; i < each * threads; ++i)
    wrong += data[i] != i % each;
  EXPECT_EQ(wrong, 0u);
  device->destroyGraph(*graph);
  device->destroyStream(stream);
}

TEST_F(HostFunctionsTest, WorkspaceWhileCapturing) {
  StreamHandle stream = *device->createStream();
  auto *workspace = find<void *(int64_t, int64_t)>("norm_fusion_workspace");
  {
    HostContext context(*device, stream);
    void *before = workspace(512, 0);
    ASSERT_EQ(llvm::toString(device->beginCapture(stream)), "");
    EXPECT_TRUE(device->isCapturing(stream));
    EXPECT_EQ(workspace(512, 0), before);
    EXPECT_FALSE(context.hasError());
    EXPECT_FALSE(workspace(513, 0));
    EXPECT_EQ(llvm::toString(context.takeError()),
              "a kernel needs a workspace of 1024 bytes while its stream is "
              "captured, and has 512; call once with these sizes before "
              "capturing");
    device->destroyGraph(*device->endCapture(stream));
    EXPECT_FALSE(device->isCapturing(stream));
    EXPECT_TRUE(workspace(513, 0));
  }
  device->destroyStream(stream);
}

} // namespace
