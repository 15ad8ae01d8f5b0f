"""usage: npy.py FILE DESCR SHAPE NUMBER...: writes a .npy file without numpy. SHAPE: 2x3, or - for a scalar.
DESCR: <f8 <f4 |b1 |i1 <i8, or <u2 with NUMBERs as bits. --dump FILE prints descr, shape and the numbers."""
import ast, struct, sys

FORMATS = {"<f8": "d", "<f4": "f", "<f2": "e", "<u2": "H", "|u1": "B", "|b1": "?", "|i1": "b", "<i2": "h", "<i4": "i",
           "<i8": "q"}
if sys.argv[1] == "--dump":
    data = open(sys.argv[2], "rb").read()
    assert data[:8] == b"\x93NUMPY\x01\x00"
    end = 10 + struct.unpack("<H", data[8:10])[0]
    assert end % 64 == 0
    header = ast.literal_eval(data[10:end].decode())
    count = (len(data) - end) // struct.calcsize(FORMATS[header["descr"]])
    print(header["descr"], header["fortran_order"], header["shape"],
          *struct.unpack(f"<{count}{FORMATS[header['descr']]}", data[end:]))
    sys.exit()
path, descr, shape, *numbers = sys.argv[1:]
sizes = tuple(int(s) for s in shape.split("x")) if shape != "-" else ()
text = repr({"descr": descr, "fortran_order": False, "shape": sizes}) + "\n"
kind = FORMATS.get(descr, "f")
values = [float(x) if kind in "dfe" else int(x) for x in numbers]
open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() +
                       struct.pack(f"<{len(values)}{kind}", *values))
