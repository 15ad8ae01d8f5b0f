//===- CudaDeviceTest.cpp - The CUDA driver device ------------------------===//
//
// Needs a GPU of Hopper or newer and the driver, nothing else; skipped where
// there is none. The last test leaves the device unusable for the process.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runtime/Device.h"
#include "llvm/ADT/Twine.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace mlir::norm_fusion::runtime;

namespace {

const char *const ptx = R"(.version 7.8
.target sm_90
.address_size 64
.visible .global .u32 together_cooperative = 1;
// p[i] += n for i in the grid
.visible .entry add(.param .u64 p, .param .u32 n) {
  .reg .u64 %a; .reg .u32 %i, %b, %t, %v, %n;
  ld.param.u64 %a, [p]; ld.param.u32 %n, [n];
  mov.u32 %i, %ctaid.x; mov.u32 %b, %ntid.x; mov.u32 %t, %tid.x;
  mad.lo.u32 %i, %i, %b, %t;
  mad.wide.u32 %a, %i, 4, %a;
  ld.global.u32 %v, [%a]; add.u32 %v, %v, %n; st.global.u32 [%a], %v;
  ret;
}
// p[ctaid] = rank in the cluster
.visible .entry rank(.param .u64 p, .param .u32 n) {
  .reg .u64 %a; .reg .u32 %i, %v;
  ld.param.u64 %a, [p];
  mov.u32 %i, %ctaid.x; mov.u32 %v, %cluster_ctarank;
  mad.wide.u32 %a, %i, 4, %a; st.global.u32 [%a], %v;
  ret;
}
// all blocks wait for each other
.visible .entry together(.param .u64 p, .param .u32 n) {
  .reg .u64 %a; .reg .u32 %v, %g; .reg .pred %q;
  ld.param.u64 %a, [p]; mov.u32 %g, %nctaid.x;
  atom.add.acq_rel.gpu.global.u32 %v, [%a], 1;
LOOP: ld.acquire.gpu.global.u32 %v, [%a]; setp.lt.u32 %q, %v, %g; @%q bra LOOP;
  ret;
}
.visible .entry spin(.param .u64 p, .param .u32 n) {
  .reg .u64 %a; .reg .u32 %v; .reg .pred %q;
  ld.param.u64 %a, [p];
LOOP: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %q, %v, 0; @%q bra LOOP;
  ret;
}
)";

class CudaDeviceTest : public ::testing::Test {
protected:
  void SetUp() override {
    if (!countCudaDevices())
      GTEST_SKIP() << "no CUDA device";
    auto created = createCudaDevice(0);
    ASSERT_TRUE(bool(created)) << llvm::toString(created.takeError());
    device = std::move(*created);
    if (device->getProperties().maxClusterSize == 1)
      GTEST_SKIP() << "the device has no clusters";
    auto loaded = device->loadModule(llvm::ArrayRef(ptx, strlen(ptx)));
    ASSERT_TRUE(bool(loaded)) << llvm::toString(loaded.takeError());
    module = *loaded;
    auto opened = device->createStream();
    ASSERT_TRUE(bool(opened));
    stream = *opened;
  }
  void TearDown() override {
    if (device && stream)
      device->destroyStream(stream);
  }

  KernelHandle get(llvm::StringRef name) {
    auto kernel = device->getKernel(module, name);
    EXPECT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
    return *kernel;
  }
  std::string text(llvm::Error error) {
    return llvm::toString(std::move(error));
  }
  uint32_t *allocate(size_t words) {
    auto memory = device->allocate(words * 4, /*hostVisible=*/true);
    EXPECT_TRUE(bool(memory)) << llvm::toString(memory.takeError());
    EXPECT_EQ(text(device->fill32(*memory, 0, words, stream)), "");
    return static_cast<uint32_t *>(*memory);
  }
  std::string launch(llvm::StringRef name, LaunchConfig config, void *pointer,
                     uint32_t number = 1) {
    void *arguments[] = {&pointer, &number};
    return text(device->launch(get(name), config, arguments, stream));
  }

  std::unique_ptr<Device> device;
  ModuleHandle module = nullptr;
  StreamHandle stream = nullptr;
};

TEST(CudaTest, NoSuchDevice) {
  auto device = createCudaDevice(1000);
  ASSERT_FALSE(bool(device));
  llvm::handleAllErrors(device.takeError(), [](const DeviceError &error) {
    EXPECT_EQ(error.getKind(), ErrorKind::noDevice);
    EXPECT_NE(error.message().find("--device=emulator"), std::string::npos)
        << error.message();
  });
}

TEST_F(CudaDeviceTest, LaunchAndInfo) {
  auto again = device->loadModule(llvm::ArrayRef(ptx, strlen(ptx)));
  EXPECT_EQ(*again, module);
  EXPECT_TRUE(device->getKernelInfo(get("together"))->cooperative);
  EXPECT_FALSE(device->getKernelInfo(get("add"))->cooperative);
  EXPECT_GT(device->getKernelInfo(get("add"))->registers, 0u);
  uint32_t *data = allocate(1024);
  LaunchConfig config;
  config.grid.x = 8;
  config.block.x = 128;
  config.dynamicSharedMemory = 200 * 1024;
  EXPECT_EQ(launch("add", config, data, 5), "");
  config.programmaticDependent = true;
  EXPECT_EQ(launch("add", config, data, 2), "");
  EXPECT_EQ(text(device->synchronize(stream)), "");
  EXPECT_EQ(data[1023], 7u);
  config.dynamicSharedMemory = 300 * 1024;
  EXPECT_NE(launch("add", config, data).find("shared memory"),
            std::string::npos);
  device->deallocate(data);
}

TEST_F(CudaDeviceTest, Clusters) {
  uint32_t *data = allocate(64);
  for (unsigned size : {2u, 8u, 16u}) {
    if (size > device->getProperties().maxClusterSize)
      continue;
    LaunchConfig config;
    config.grid.x = 32;
    config.block.x = 1;
    config.cluster.x = size;
    EXPECT_EQ(launch("rank", config, data), "");
    EXPECT_EQ(text(device->synchronize(stream)), "");
    EXPECT_EQ(data[31], size - 1);
    for (KernelHandle kernel : {get("rank"), KernelHandle(nullptr)}) {
      auto count = device->getMaxActiveClusters(kernel, config);
      ASSERT_TRUE(bool(count)) << llvm::toString(count.takeError());
      EXPECT_GT(*count, 0u);
    }
  }
}

TEST_F(CudaDeviceTest, Cooperative) {
  uint32_t *data = allocate(1);
  LaunchConfig config;
  config.cooperative = true;
  config.block.x = 1024;
  config.grid.x = 1;
  auto blocks = device->getMaxActiveClusters(get("spin"), config);
  ASSERT_TRUE(bool(blocks));
  config.block.x = 1;
  config.grid.x = device->getProperties().multiprocessors;
  EXPECT_EQ(launch("together", config, data), "");
  EXPECT_EQ(text(device->synchronize(stream)), "");
  EXPECT_EQ(*data, config.grid.x);
  config.block.x = 1024;
  config.grid.x = *blocks + 1;
  EXPECT_NE(
      launch("together", config, data).find("cooperative launch too large"),
      std::string::npos);
}

TEST_F(CudaDeviceTest, GraphsAndEvents) {
  uint32_t *data = allocate(128);
  LaunchConfig config;
  config.block.x = 128;
  ASSERT_EQ(text(device->beginCapture(stream)), "");
  for (unsigned i = 0; i < 24; ++i)
    EXPECT_EQ(launch("add", config, data), "");
  // Allocating and waiting don't spoil a capture.
  void *other = *device->allocate(1 << 20, false);
  EXPECT_EQ(text(device->synchronize(stream)), "");
  device->deallocate(other);
  auto graph = device->endCapture(stream);
  ASSERT_TRUE(bool(graph)) << llvm::toString(graph.takeError());
  EventHandle start = *device->createEvent(), stop = *device->createEvent();
  EXPECT_EQ(text(device->recordEvent(start, stream)), "");
  for (unsigned i = 0; i < 3; ++i)
    EXPECT_EQ(text(device->launchGraph(*graph, stream)), "");
  EXPECT_EQ(text(device->recordEvent(stop, stream)), "");
  EXPECT_EQ(text(device->synchronize(stream)), "");
  EXPECT_EQ(data[127], 72u);
  EXPECT_GT(*device->elapsedMicroseconds(start, stop), 0.0);
  device->destroyGraph(*graph);
  device->destroyEvent(start);
  device->destroyEvent(stop);
}

TEST_F(CudaDeviceTest, BadModule) {
  llvm::StringRef bad = ".version 7.8\n.target sm_90\n.address_size 64\n"
                        ".visible .entry k() { frobnicate; }\n";
  auto failed = device->loadModule(llvm::ArrayRef(bad.data(), bad.size()));
  ASSERT_FALSE(bool(failed));
  std::string message = llvm::toString(failed.takeError());
  EXPECT_NE(message.find("frobnicate"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST_F(CudaDeviceTest, ManyThreads) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      auto module = device->loadModule(llvm::ArrayRef(ptx, strlen(ptx)));
      auto kernel = device->getKernel(*module, "add");
      StreamHandle own = *device->createStream();
      void *data = *device->allocate(4096, true);
      EXPECT_EQ(text(device->fill32(data, 1, 1024, own)), "");
      LaunchConfig config;
      config.grid.x = 8;
      config.block.x = 128;
      uint32_t number = 1;
      void *arguments[] = {&data, &number};
      for (unsigned k = 0; k < 100; ++k)
        EXPECT_EQ(text(device->launch(*kernel, config, arguments, own)), "");
      EXPECT_EQ(text(device->synchronize(own)), "");
      EXPECT_EQ(static_cast<uint32_t *>(data)[1023], 101u);
      device->deallocate(data);
      device->destroyStream(own);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(CudaDeviceTest, Memory) {
  // There and back, over device memory, in the order of the stream.
  std::vector<uint32_t> source(5000), target(5000);
  for (unsigned i = 0; i < source.size(); ++i)
    source[i] = i * 2654435761u;
  size_t bytes = source.size() * 4;
  void *a = *device->allocate(bytes, /*hostVisible=*/false);
  void *b = *device->allocate(bytes, /*hostVisible=*/false);
  EXPECT_NE(a, b);
  EXPECT_EQ(text(device->copy(a, source.data(), bytes, stream)), "");
  EXPECT_EQ(text(device->copy(b, a, bytes, stream)), "");
  EXPECT_EQ(text(device->fill32(b, 7, 10, stream)), "");
  EXPECT_EQ(text(device->copy(target.data(), b, bytes, stream)), "");
  EXPECT_EQ(text(device->copy(target.data(), b, 0, stream)), "");
  EXPECT_EQ(text(device->synchronize(stream)), "");
  EXPECT_EQ(target[9], 7u);
  EXPECT_EQ(target[10], source[10]);
  EXPECT_EQ(target.back(), source.back());
  // What is freed serves the next allocation of its size.
  device->deallocate(a);
  EXPECT_EQ(*device->allocate(bytes, /*hostVisible=*/false), a);
  device->deallocate(a);
  device->deallocate(b);
  device->deallocate(nullptr);
}

TEST_F(CudaDeviceTest, OutOfMemory) {
  auto failed = device->allocate(size_t(1) << 50, /*hostVisible=*/false);
  ASSERT_FALSE(bool(failed));
  llvm::handleAllErrors(failed.takeError(), [](const DeviceError &error) {
    EXPECT_EQ(error.getKind(), ErrorKind::outOfMemory) << error.message();
  });
  // The device is as good as before.
  uint32_t *data = allocate(1);
  EXPECT_EQ(launch("add", LaunchConfig(), data), "");
  EXPECT_EQ(text(device->synchronize(stream)), "");
  EXPECT_EQ(*data, 1u);
}

TEST_F(CudaDeviceTest, TwoStreams) {
  // One waits for what the other is given afterwards. The driver loads a kernel
  // when it is first asked for, which waits for those that run.
  get("add");
  uint32_t *flag = allocate(1), *data = allocate(1);
  EXPECT_EQ(text(device->synchronize(stream)), "");
  StreamHandle other = *device->createStream();
  EXPECT_EQ(launch("spin", LaunchConfig(), flag), "");
  void *pointers[] = {data, flag};
  uint32_t number = 1;
  for (void *pointer : pointers) {
    void *arguments[] = {&pointer, &number};
    EXPECT_EQ(text(device->launch(get("add"), LaunchConfig(), arguments, other)),
              "");
    EXPECT_EQ(text(device->synchronize(other)), "");
  }
  EXPECT_EQ(*data, 1u);
  EXPECT_EQ(text(device->synchronize(stream)), "");
  device->destroyStream(other);
}

TEST_F(CudaDeviceTest, ModulesOfTwoDevices) {
  // Of one GPU, or of two where there are: each loads its own, and one that
  // goes takes nothing from the other.
  int ordinal = countCudaDevices() > 1;
  auto second = createCudaDevice(ordinal);
  ASSERT_TRUE(bool(second)) << llvm::toString(second.takeError());
  auto loaded = (*second)->loadModule(llvm::ArrayRef(ptx, strlen(ptx)));
  ASSERT_TRUE(bool(loaded)) << llvm::toString(loaded.takeError());
  EXPECT_NE(*loaded, module);
  StreamHandle own = *(*second)->createStream();
  void *data = *(*second)->allocate(4, /*hostVisible=*/true);
  EXPECT_EQ(text((*second)->fill32(data, 1, 1, own)), "");
  uint32_t number = 4;
  void *arguments[] = {&data, &number};
  std::thread([&] {
    EXPECT_EQ(text((*second)->launch(*(*second)->getKernel(*loaded, "add"),
                                     LaunchConfig(), arguments, own)),
              "");
    EXPECT_EQ(text((*second)->synchronize(own)), "");
  }).join();
  EXPECT_EQ(*static_cast<uint32_t *>(data), 5u);
  (*second)->destroyStream(own);
  second->reset();
  uint32_t *mine = allocate(1);
  EXPECT_EQ(launch("add", LaunchConfig(), mine, 3), "");
  EXPECT_EQ(text(device->synchronize(stream)), "");
  EXPECT_EQ(*mine, 3u);
}

TEST_F(CudaDeviceTest, Watchdog) {
  setenv("NORM_FUSION_KERNEL_TIMEOUT", "0.5", 1);
  auto impatient = createCudaDevice(0);
  unsetenv("NORM_FUSION_KERNEL_TIMEOUT");
  ASSERT_TRUE(bool(impatient)) << llvm::toString(impatient.takeError());
  uint32_t *flag = allocate(1);
  EXPECT_EQ(text(device->synchronize(stream)), "");
  EXPECT_EQ(launch("spin", LaunchConfig(), flag), "");
  llvm::Error error = (*impatient)->synchronize(stream);
  ASSERT_TRUE(error.isA<DeviceError>());
  llvm::handleAllErrors(std::move(error), [](const DeviceError &error) {
    EXPECT_EQ(error.getKind(), ErrorKind::kernelFailed);
    EXPECT_EQ(error.message(),
              "kernel hung: not finished after 0.5 s; set "
              "NORM_FUSION_KERNEL_TIMEOUT to wait longer");
  });
  // Let it go.
  *static_cast<volatile uint32_t *>(flag) = 1;
  EXPECT_EQ(text(device->synchronize(stream)), "");
}

TEST_F(CudaDeviceTest, ZLastIllegalAddress) {
  uint32_t *data = allocate(1);
  EXPECT_EQ(text(device->synchronize(stream)), "");
  LaunchConfig config;
  EXPECT_EQ(launch("add", config, reinterpret_cast<void *>(64)), "");
  llvm::Error error = device->synchronize(stream);
  ASSERT_TRUE(error.isA<DeviceError>());
  llvm::handleAllErrors(std::move(error), [](const DeviceError &error) {
    EXPECT_EQ(error.getKind(), ErrorKind::kernelFailed) << error.message();
  });
  (void)data;
}

} // namespace
