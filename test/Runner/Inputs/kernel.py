"""usage: kernel.py BODY: prints a module that launches one kernel of its own, two blocks of 64 threads, on the 64 floats
of its argument and result. BODY (a file, or - for stdin) has %p, the pointer, and %tid and %zero (i32) at hand."""
import sys

body = (sys.stdin if sys.argv[1] == "-" else open(sys.argv[1])).read()
print(f"""module attributes {{gpu.container_module}} {{
  func.func @main(%x: memref<64xf32>) -> memref<64xf32> {{
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %index = memref.extract_aligned_pointer_as_index %x : memref<64xf32> -> index
    %int = arith.index_cast %index : index to i64
    %p = llvm.inttoptr %int : i64 to !llvm.ptr
    gpu.launch_func @kernels::@k blocks in (%c2, %c1, %c1) threads in (%c64, %c1, %c1) args(%p : !llvm.ptr)
    return %x : memref<64xf32>
  }}
  gpu.module @kernels {{
    gpu.func @k(%p: !llvm.ptr) kernel {{
      %tid = nvvm.read.ptx.sreg.tid.x : i32
      %zero = llvm.mlir.constant(0 : i32) : i32
{body}
      gpu.return
    }}
  }}
}}""")
