"""Writes f32 numbers that are hard to round to powers of two, and what f8E8M0FNU makes of them: half of the way and more up, zero and what is
below 2^-127 to 2^-127, NaN for what is too large and below zero.

usage: exponents.py NUMBERS.npy CODES.npy POWERS.npy    16 x 256 arrays
"""
import struct, sys

bits = {0, 0x80000000, 0xBF800000, 0xFF800000, 0x7F800000, 0x7FC00000, 1, 0x003FFFFF, 0x00400000, 0x005FFFFF, 0x00600000}
for exponent in range(256):
    for mantissa in (0, 1, 0x200000, 0x3FFFFF, 0x400000, 0x400001, 0x7FFFFF):
        if exponent < 255 or mantissa == 0:
            bits.add(exponent << 23 | mantissa)
bits = sorted(bits)
bits += [0x3F800000] * (16 * 256 - len(bits))


def encode(b):
    if b == 0x80000000:
        return 0
    x = struct.unpack("<f", struct.pack("<I", b))[0]
    if not 0 <= x < 1.5 * 2.0 ** 127:
        return 255
    code = 0
    while x >= 1.5 * 2.0 ** (code - 127):
        code += 1
    return code


def write(path, description, data):
    header = f"{{'descr': '{description}', 'fortran_order': False, 'shape': (16, 256), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


codes = [encode(b) for b in bits]
write(sys.argv[1], "<f4", struct.pack(f"<{len(bits)}I", *bits))
write(sys.argv[2], "|u1", bytes(codes))
write(sys.argv[3], "<f4", struct.pack(f"<{len(bits)}I", *(0x7FC00000 if c == 255 else max(c << 23, 0x00400000) for c in codes)))
