# Configuration of the lit tests.
#
# Features: cuda (there is a GPU and a driver), ptxas (the CUDA Toolkit is on the path).
import ctypes
import os
import platform
import shutil

import lit.formats

config.name = "norm-fusion"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["CMakeLists.txt", "README.md", "Inputs", "lit.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.binary_dir, "test")
config.tools = os.path.join(config.binary_dir, "bin")

config.environment["PATH"] = os.pathsep.join(
    [config.tools, config.llvm_tools, os.environ.get("PATH", "")])
# Tests must not depend on a terminal or on a user's settings.
config.environment["LC_ALL"] = "C"

config.substitutions += [
    ("%python", config.python),
    ("%plugin", os.path.join(config.binary_dir, "lib", "norm-fusion-plugin.so")),
    ("%docs", os.path.join(config.source_dir, "docs")),
    ("%corpus", os.path.join(config.test_source_root, "Corpus")),
    ("%build", config.binary_dir),
    ("%version", config.version),
    ("%mlir_include", config.mlir_include),
    ("%cxx", config.cxx),
    ("%cc", config.cc),
    # Users' runs trust the passes; tests don't.
    (r"(?<![=/\w-])norm-fusion-runner(?= [%/])", "norm-fusion-runner --verify-each"),
]


def has_cuda():
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        count = ctypes.c_int()
        return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(
            ctypes.byref(count)) == 0 and count.value > 0
    except OSError:
        return False


if has_cuda():
    config.available_features.add("cuda")
config.available_features.add(platform.machine())
if shutil.which("ptxas"):
    config.available_features.add("ptxas")
