import ctypes, os, sys
z=ctypes.CDLL("libzstd.so.1")
d=open(".gpu/norm-fusion.zst","rb").read()
z.ZSTD_getFrameContentSize.restype=ctypes.c_ulonglong
n=z.ZSTD_getFrameContentSize(d,ctypes.c_size_t(len(d)))
b=ctypes.create_string_buffer(n)
z.ZSTD_decompress.restype=ctypes.c_size_t
r=z.ZSTD_decompress(b,ctypes.c_size_t(n),d,ctypes.c_size_t(len(d)))
assert r==n,(r,n)
os.makedirs("/tmp/bin",exist_ok=True)
open("/tmp/bin/norm-fusion","wb").write(b.raw)
os.chmod("/tmp/bin/norm-fusion",0o755)
for t in ("opt","runner"):
    p=f"/tmp/bin/norm-fusion-{t}"
    if not os.path.lexists(p): os.symlink("norm-fusion",p)
