"""A plain Triton kernel that reads one to three arrays and writes one or two, of any types: the time of moving the bytes alone."""
import torch, triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, x, y, n, INPUTS: tl.constexpr, OUTPUTS: tl.constexpr, EVICT: tl.constexpr, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK).to(tl.int64)
        mask = i < n
        value = tl.load(a + i, mask).to(tl.float32)
        if INPUTS > 1:
            value += tl.load(b + i, mask).to(tl.float32)
        if INPUTS > 2:
            value += tl.load(c + i, mask).to(tl.float32)
        tl.store(x + i, value.to(x.dtype.element_ty), mask, eviction_policy=EVICT)
        if OUTPUTS > 1:
            tl.store(y + i, value.to(y.dtype.element_ty), mask, eviction_policy=EVICT)


# Elements of a block, its warps, blocks a multiprocessor that walk the arrays (or all at once), hint of the stores.
VARIANTS = [(block, warps, blocks, evict) for block, warps in ((1024, 4), (2048, 4), (4096, 8), (8192, 8))
            for blocks, evict in ((None, "evict_first"), (8, "evict_first"), (None, ""))]


def launch(inputs, dtypes, variant):
    block, warps, blocks, evict = variant
    n = inputs[0].numel()
    outputs = [torch.empty(inputs[0].shape, dtype=dtype, device=inputs[0].device) for dtype in dtypes]
    grid = triton.cdiv(n, block)
    if blocks:
        grid = min(grid, blocks * torch.cuda.get_device_properties(inputs[0].device).multi_processor_count)
    kernel[(grid,)](*(inputs * 3)[:3], *(outputs * 2)[:2], n, INPUTS=len(inputs), OUTPUTS=len(outputs), EVICT=evict, BLOCK=block,
                    num_warps=warps)
    return outputs
