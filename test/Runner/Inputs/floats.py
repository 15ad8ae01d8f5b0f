"""Writes f32 numbers that are hard to round to 8-bit floats: their values, the middles between them and the neighbours of
both, what is too large, infinities, NaN, denormals.

usage: floats.py FILE.npy    a 16 x 256 array
"""
import struct, sys


def neighbours(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    for b in (bits - 1, bits, bits + 1):
        if 0 <= b < 0x7F800000:
            yield b


def values(ebits, mbits, bias):
    for code in range(1 << (ebits + mbits)):
        e, m = code >> mbits, code & ((1 << mbits) - 1)
        yield m * 2.0 ** (1 - bias - mbits) if e == 0 else (1 + m / (1 << mbits)) * 2.0 ** (e - bias)


bits = {0, 1, 0x00400000, 0x7F800000, 0x7FC00000, 0x7F7FFFFF}
for v in (list(values(4, 3, 7)), list(values(5, 2, 15))):
    for a, b in zip(v, v[1:]):
        for x in (a, (a + b) / 2):
            bits.update(neighbours(x))
# Negative NaN is left out: the sign of a NaN is nobody's promise.
both = sorted(bits) + sorted(b | 0x80000000 for b in bits if b <= 0x7F800000)
assert len(both) <= 16 * 256, len(both)
both += [0] * (16 * 256 - len(both))
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (16, 256), }"
header += " " * (63 - (10 + len(header)) % 64) + "\n"
with open(sys.argv[1], "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(both)}I", *both))
