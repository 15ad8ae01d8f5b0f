"""usage: rounds.py FOLDER: outputs.py's measure_cell() with a clock and providers that need no GPU."""
import contextlib, json, os, sys, types
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../benchmarks"))
import outputs

times = {"good": [4.0, 2.0], "wrong": [3.0, 5.0], "late": [1.0, RuntimeError("too late")]}
errors = {"good": [0.25, 0.125], "wrong": [0.5, 0.0], "late": [0.0, 0.0]}


class Plain:
    def __init__(self, *arrays):
        self.us, self.variant = 1.5, (1,)

    def time_again(self):
        raise RuntimeError("plain fails")


def make(name):
    call = lambda i: [name]
    call.name = name
    return lambda case, sets, options: call


def time_calls(call, sets):
    time = times[call.name].pop(0)
    if isinstance(time, Exception):
        raise time
    return dict(us=time, results=[[call.name]], graph=None)


report = dict(rows=[])
options = types.SimpleNamespace(rounds=2, json=os.path.join(sys.argv[1], "rounds.json"), providers={})
torch = types.SimpleNamespace(manual_seed=lambda seed: None, cuda=types.SimpleNamespace(synchronize=lambda: None))
with mock.patch.multiple(outputs, Plain=Plain, torch=torch, time_calls=time_calls, PEERS={name: make(name) for name in times},
                         make_inputs=lambda *given: None, get_reference=lambda *given: [None], count_sets=lambda nbytes: 1, is_fatal=lambda: False,
                         get_error=lambda result, expected: (errors[result].pop(0), result == "wrong")), contextlib.redirect_stdout(sys.stderr):
    outputs.measure_cell("forward", "8x512", list(times), report, options, float("inf"))
rows = json.load(open(options.json))["rows"]
for row in rows:
    if "skipped" in row:
        print(row["provider"], "skipped:", row["skipped"])
    else:
        print(f"{row['provider']} {row['us']} us of {row['rounds']} rounds, error {row['errors']['y']}, wrong {row['wrong']}")
print("plain", rows[0]["plain_us"])
