"""The triad as a Triton kernel: c = a + 3 b."""
import torch, triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, n, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK).to(tl.int64)
        mask = i < n
        tl.store(c + i, tl.load(a + i, mask) + 3 * tl.load(b + i, mask), mask)


def launch(a, b, block, blocks_per_multiprocessor):
    """Blocks of `block` elements: one each, or so many a multiprocessor that walk the arrays."""
    c = torch.empty_like(a)
    grid = triton.cdiv(a.numel(), block)
    if blocks_per_multiprocessor:
        grid = min(grid, blocks_per_multiprocessor * torch.cuda.get_device_properties(a.device).multi_processor_count)
    kernel[(grid,)](a, b, c, a.numel(), BLOCK=block)
    return c
