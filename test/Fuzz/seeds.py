"""Writes seeds for norm-fusion-fuzz: the pieces of the tests, small cases of the corpus, and bytecode of both.

usage: seeds.py OPT FOLDER [--limit 8192]
"""
import glob, hashlib, os, re, subprocess, sys

opt, folder = sys.argv[1:3]
limit = int(sys.argv[sys.argv.index("--limit") + 1]) if "--limit" in sys.argv else 8192
tests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
os.makedirs(folder, exist_ok=True)
seeds = []
for path in glob.glob(f"{tests}/**/*.mlir", recursive=True):
    for piece in re.split(r"^//(?: -----|---).*$", open(path).read(), flags=re.M):
        text = "\n".join(line for line in piece.splitlines() if line.strip() and not line.strip().startswith("//"))
        if text and len(text) <= limit:
            seeds.append(text.encode())
for i, text in enumerate(list(seeds)):
    p = subprocess.run([opt, "--emit-bytecode"], input=text, capture_output=True)
    if p.returncode == 0 and i % 3 == 0 and len(p.stdout) <= limit:
        seeds.append(p.stdout)
for seed in seeds:
    open(os.path.join(folder, hashlib.sha1(seed).hexdigest()[:16]), "wb").write(seed)
print(len(seeds), "seeds")
