"""Calls a bundle's kernels (norm-fusion-runner --emit-bundle) on PyTorch's tensors, in PyTorch's current stream.

A bundle's manifest says as formulas of sizes and addresses what the host code computes: buffers, grids, arguments. Here they are compiled
into Python functions once; the rest is what a launch needs from the driver (the package cuda-bindings).
"""
import ctypes, functools, json, os
import torch
from cuda.bindings import driver
from formula import FUNCTIONS, compile_formula

DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "f64": torch.float64, "f8E4M3FN": torch.float8_e4m3fn,
          "f8E5M2": torch.float8_e5m2, "i8": torch.int8}
PROBE = b""".version 7.8
.target sm_90
.address_size 64
.visible .entry probe() { ret; }
\0"""


def check(result):
    status, *values = result
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"the CUDA driver says {status.name}")
    return values[0] if values else None


def get_target_options():
    """norm-fusion-runner's options for this device: the chip, and the memory's bandwidth, two transfers a clock on each line of its bus."""
    torch.zeros(1, device="cuda")  # makes the context current
    device, attribute = check(driver.cuCtxGetDevice()), driver.CUdevice_attribute
    get = lambda name: check(driver.cuDeviceGetAttribute(getattr(attribute, f"CU_DEVICE_ATTRIBUTE_{name}"), device))
    major, minor = get("COMPUTE_CAPABILITY_MAJOR"), get("COMPUTE_CAPABILITY_MINOR")
    bandwidth = 2 * get("MEMORY_CLOCK_RATE") * (get("GLOBAL_MEMORY_BUS_WIDTH") // 8) // 1000000
    return [f"--chip=sm_{major}{minor}" + "a" * (major in (9, 10))] + [f"--memory-bandwidth={bandwidth}"] * (bandwidth > 0)


def prepare(function, cluster, shared):
    attribute = driver.CUfunction_attribute
    if shared > 48 << 10:
        check(driver.cuFuncSetAttribute(function, attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared))
    if cluster > 8:
        check(driver.cuFuncSetAttribute(function, attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1))


def configure(grid, block, cluster, shared, cooperative, dependent=False):
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.sharedMemBytes = shared
    config.hStream = driver.CUstream(torch.cuda.current_stream().cuda_stream)
    attributes = []
    if cluster != (1, 1, 1):
        attribute = driver.CUlaunchAttribute()
        attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        value = attribute.value
        value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = cluster
        attributes.append(attribute)
    if cooperative:
        attribute = driver.CUlaunchAttribute()
        attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        attribute.value.cooperative = 1
        attributes.append(attribute)
    if dependent:
        attribute = driver.CUlaunchAttribute()
        attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        attribute.value.programmaticStreamSerializationAllowed = 1
        attributes.append(attribute)
    config.attrs, config.numAttrs = attributes, len(attributes)
    return config


@functools.lru_cache(maxsize=None)
def max_active_clusters(cluster, threads):
    """Clusters that run at once with one block a multiprocessor; 0 where no such cluster fits."""
    device = torch.cuda.get_device_properties(torch.cuda.current_device())
    shared = device.shared_memory_per_block_optin
    probe = check(driver.cuModuleGetFunction(check(driver.cuModuleLoadData(PROBE)), b"probe"))
    prepare(probe, cluster, shared)
    if cluster == 1:
        return device.multi_processor_count * check(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(probe, threads, shared))
    status, count = driver.cuOccupancyMaxActiveClusters(probe, configure((cluster, 1, 1), (threads, 1, 1), (cluster, 1, 1), shared, False))
    return count if status == driver.CUresult.CUDA_SUCCESS else 0


class Bundle:
    def __init__(self, folder):
        self.manifest = json.load(open(os.path.join(folder, "manifest.json")))
        torch.zeros(1, device="cuda")  # makes the context current
        modules = {f["name"]: check(driver.cuModuleLoadData(open(os.path.join(folder, f["name"]), "rb").read() + b"\0"))
                   for f in self.manifest["files"]}
        f = compile_formula
        self.requires = [(f(c["condition"]), c["message"]) for c in self.manifest["requires"]]
        self.buffers = [(b["name"], f(b["bytes"])) for b in self.manifest["buffers"]]
        self.workspaces = [(w["name"], f(w["bytes"])) for w in self.manifest["workspaces"]]
        self.kernels = [dict(function=check(driver.cuModuleGetFunction(modules[k["file"]], k["name"].encode())), when=f(k["when"]),
                             schedule=k.get("schedule"), cooperative=k["cooperative"], dependent=k.get("programmatic_dependent", False),
                             shared=f(k["shared_memory_bytes"]), workspace=k["workspace"],
                             arguments=[f(a["value"]) for a in k["arguments"]],
                             **{key: [f(d) for d in k[key]] for key in ("grid", "block", "cluster")})
                        for k in self.manifest["kernels"]]
        self.results = [(r["value"], DTYPES[r["type"]["dtype"]], [f(d) for d in r["shape"]]) for r in self.manifest["results"]]
        self.memory = {}  # of each workspace its blocks, the last one in use: kernels leave state there, and a graph may have the address of any
        self.functions = {**FUNCTIONS, "max_active_clusters": max_active_clusters,
                          "multiprocessors": torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count}
        self.launches = []  # (grid, block, cluster, shared memory) of the last call
        self.schedule = ""  # of its first kernel

    def __call__(self, *tensors):
        """One call: contiguous tensors in the order of the entry's arguments, results as fresh tensors."""
        v = dict(self.functions)
        for i, tensor in enumerate(tensors):
            v[f"arg{i}"] = tensor.data_ptr()
            v.update({f"arg{i}.dim{d}": size for d, size in enumerate(tensor.shape)})
        for holds, message in self.requires:
            if not holds(v):
                raise ValueError(f"the module asserts: {message}")
        buffers = {name: torch.empty(max(1, count(v)), dtype=torch.uint8, device="cuda") for name, count in self.buffers}
        v.update({name: buffer.data_ptr() for name, buffer in buffers.items()})
        self.launches = []
        for kernel in self.kernels:
            if kernel["when"](v):
                self.launch(kernel, v)
        buffers.update({f"arg{i}": tensor.reshape(-1).view(torch.uint8) for i, tensor in enumerate(tensors)})
        results = []
        for name, dtype, shape in self.results:
            shape = [size(v) for size in shape]
            elements = torch.Size(shape).numel()
            results.append(buffers[name][:elements * dtype.itemsize].view(dtype).view(shape))
        return results

    def launch(self, kernel, v):
        for name, count in self.workspaces:
            if name == kernel["workspace"]:
                blocks, size = self.memory.setdefault(name, []), count(v)
                last = blocks[-1].numel() if blocks else -1
                if last < size:
                    if torch.cuda.is_current_stream_capturing():
                        raise RuntimeError("call once before capturing: the workspace has to grow")
                    blocks.append(torch.zeros(max(size, 2 * last), dtype=torch.uint8, device="cuda"))
                v[name] = blocks[-1].data_ptr()
        grid, block, cluster = (tuple(size(v) for size in kernel[key]) for key in ("grid", "block", "cluster"))
        if 0 in grid:
            return
        shared = kernel["shared"](v)
        prepare(kernel["function"], cluster[0] * cluster[1] * cluster[2], shared)
        config = configure(grid, block, cluster, shared, kernel["cooperative"], kernel["dependent"])
        words = (ctypes.c_int64 * len(kernel["arguments"]))(*(value(v) for value in kernel["arguments"]))
        pointers = (ctypes.c_void_p * len(words))(*(ctypes.addressof(words) + 8 * i for i in range(len(words))))
        check(driver.cuLaunchKernelEx(config, kernel["function"], ctypes.addressof(pointers), 0))
        if not self.launches:
            self.schedule = kernel["schedule"]
        self.launches.append((grid, block, cluster, shared))
