"""usage: bad_npy.py FOLDER: writes one .npy file of 1x4 f32 for each way in which a file can be wrong; its name says which."""
import os, struct, sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)


def write(name, header="{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4), }", data=bytes(16), magic=b"\x93NUMPY",
          version=b"\x01\x00", length=None):
    header = header.encode() + b"\n"
    prefix = magic + version + struct.pack("<H", len(header) if length is None else length)
    open(os.path.join(folder, name + ".npy"), "wb").write(prefix + header + data)


write("good")
write("magic", magic=b"\x93NUMPI")
write("version", version=b"\x07\x00")
write("short", data=bytes(15))
write("long", data=bytes(17))
write("header", header="{'descr': '<f4', 'shape': (1, 4), }")
write("object", header="{'descr': '|O', 'fortran_order': False, 'shape': (1, 4), }")
write("records", header="{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 4), }")
write("code", header="{'descr': __import__('os'), 'fortran_order': False, 'shape': (1, 4), }")
write("order", header="{'descr': '<f4', 'fortran_order': True, 'shape': (1, 4), }")
write("endian", header="{'descr': '>f4', 'fortran_order': False, 'shape': (1, 4), }")
write("huge", header="{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }")
write("cut", length=60000)
open(os.path.join(folder, "empty.npy"), "wb").close()
