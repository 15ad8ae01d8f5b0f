"""Compares the IR in docs with what the tool prints now.

A block is checked if an HTML comment stands on the line before it:
    <!-- opt: ARGUMENTS [lines=N] -->
The command is norm-fusion-opt docs/example.mlir ARGUMENTS; with lines=N only its first N lines are shown.

usage: check_docs.py OPT DOC... [--update]
"""
import os, re, shlex, subprocess, sys

opt, *docs = [a for a in sys.argv[1:] if a != "--update"]
update = "--update" in sys.argv
block = re.compile(r"<!-- opt: (.*?)(?: lines=(\d+))? -->\n```mlir\n(.*?)```", re.S)
failed = checked = 0
for doc in docs:
    text = open(doc).read()
    example = os.path.join(os.path.dirname(os.path.abspath(doc)), "example.mlir")

    def run(match):
        global failed, checked
        arguments, lines, shown = match.groups()
        p = subprocess.run([opt, example, *shlex.split(arguments)], capture_output=True, text=True)
        if p.returncode:
            sys.exit(f"{doc}: {arguments}: {p.stderr}")
        now = p.stdout
        if lines:
            now = "".join(now.splitlines(True)[: int(lines)])
        checked += 1
        if now.split() != shown.split():
            failed += 1
            if not update:
                print(f"{doc}: differs from norm-fusion-opt docs/example.mlir {arguments}")
        start, end = match.start(3) - match.start(), match.end(3) - match.start()
        return match.group(0)[:start] + now + match.group(0)[end:] if update else match.group(0)

    new = block.sub(run, text)
    if update and new != text:
        open(doc, "w").write(new)
print(f"{checked} blocks checked, {0 if update else failed} differ")
sys.exit(1 if failed and not update or not checked else 0)
