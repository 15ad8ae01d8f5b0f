# bench.py FILE: lines "norm dtype MxN [k=v ...] [!check] [!bitwise=N]"; prints one line each
import sys,os,json,subprocess,tempfile,time
sys.path.insert(0,"benchmarks"); sys.argv0=sys.argv
import importlib; norm=importlib.import_module("norm")
for line in open(sys.argv[1]):
    f=line.split()
    if not f or f[0]=="#": continue
    n,dt,shape=f[:3]; flags=[x for x in f[3:] if x[0]=="!"]; env=dict(os.environ,**dict(x[1:].split("=") for x in f[3:] if x[0]=="@")); sch=" ".join(x for x in f[3:] if x[0] not in "!@")
    m,c=map(int,shape.split("x"))
    with tempfile.TemporaryDirectory() as t:
        open(f"{t}/n.mlir","w").write(norm.ir(n,dt,c))
        cmd=["/tmp/bin/norm-fusion-runner",f"{t}/n.mlir",f"--dims={m}","--device=cuda",f"--json={t}/r.json"]
        if "!nobench" not in flags: cmd.append("--benchmark")
        if "!check" in flags: cmd.append("--check")
        for x in flags:
            if x.startswith("!bitwise="): cmd+=["--repeat="+x[9:],"--bitwise"]
        if sch: cmd.append("--schedule="+sch)
        t0=time.time()
        try: p=subprocess.run(cmd,capture_output=True,text=True,timeout=120,env=env)
        except subprocess.TimeoutExpired: print(n,dt,shape,sch,"TIMEOUT",flush=True); continue
        if p.returncode or not os.path.exists(f"{t}/r.json"):
            print(n,dt,shape,sch,"FAILED",p.returncode,p.stderr.strip()[-300:],flush=True); continue
        r=json.load(open(f"{t}/r.json")); b=r.get("benchmark"); k=r["kernels"][0]; s=k["schedule"]
        d=" ".join(f"{q}={s[q]}" for q in s if q not in("pace","grid","copy","vector"))
        e=" ".join(f"{o['max_abs_error']:.1e}/{o['passed']}" for o in r.get("outputs") or [] if "max_abs_error" in o) if "!check" in flags else ""
        print(f"{n:5} {dt} {shape:>13}",(f"{b['median_us']:8.2f} min {b['min_us']:8.2f} triad {b['triad_us']:8.2f} x{b['median_us']/b['triad_us']:.3f} +{b['median_us']-b['triad_us']:.1f}" if b else ""),f"r{k['registers']} sp{k['spill_bytes']} grid{k['grid'][0] if isinstance(k['grid'],list) else k['grid']}",e,"bw" if r.get("bitwise") else "",d if not f[3:] else "["+" ".join(f[3:])+"]",f"ms {r['compile_ms']} {time.time()-t0:.1f}s",flush=True)
