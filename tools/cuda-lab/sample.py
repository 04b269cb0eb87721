"""Compares sample.cu with the engine's sampler.

    sample.py make CASES CLASSES      writes random cases and the tokens that the Java sampler draws (needs a JDK)
    sample.py DIR CASES [time]        runs them on a GPU, with the cubins of compile.py in DIR, and times the kernel
    sample.py emulate CASES           runs the smaller ones on the CPU
"""

import ctypes
import json
import pathlib
import struct
import subprocess
import sys

import numpy
import torch

from driver import Module, long, time_graph

BYTES = 176  # of a SampleResult
LIST = 512


class Row(ctypes.Structure):
    _fields_ = [("temperature", ctypes.c_double), ("top_p", ctypes.c_double), ("min_p", ctypes.c_double), ("seed", ctypes.c_ulonglong),
                ("position", ctypes.c_longlong), ("history", ctypes.c_void_p), ("bias_ids", ctypes.c_void_p), ("biases", ctypes.c_void_p),
                ("stop_ids", ctypes.c_void_p), ("mask", ctypes.c_void_p), ("top_k", ctypes.c_int), ("prompt_length", ctypes.c_int),
                ("history_length", ctypes.c_int), ("bias_count", ctypes.c_int), ("stop_count", ctypes.c_int), ("top_logprobs", ctypes.c_int),
                ("appends", ctypes.c_int), ("repetition", ctypes.c_float), ("presence", ctypes.c_float), ("frequency", ctypes.c_float)]


def logits_of(case):
    """The same on every machine: sums of uniform numbers, rounded where ties are wanted."""
    random = numpy.random.Generator(numpy.random.PCG64(case["logits"]))
    x = random.random((4, case["vocabulary"])).sum(0) - 2
    x = (x * case["spread"]).astype(numpy.float32)
    if case["ties"]:
        x = (numpy.round(x * case["ties"]) / case["ties"]).astype(numpy.float32)
    for at, value in case["broken"]:
        x[at] = float(value)
    return x


def make_cases():
    random = numpy.random.Generator(numpy.random.PCG64(7))
    pick = lambda *values: values[random.integers(len(values))]
    cases = []
    for number in range(640):
        vocabulary = int(pick(1, 2, 5, 37, 100, 500, 1000, 3000, 5000, 7001)) if number < 560 else int(pick(50257, 128256, 32000))
        history = random.integers(0, vocabulary, random.integers(1, 300)).tolist()
        case = dict(vocabulary=vocabulary, logits=number, spread=float(pick(0.0, 0.1, 1, 5, 20)), ties=int(pick(0, 0, 0, 1, 8)), broken=[],
                    temperature=float(pick(0, 0.2, 0.7, 1, 1, 1.3, 5)), top_k=int(pick(0, 0, 1, 5, 50, 50, 600)), top_p=float(pick(1, 1, 0.1, 0.5, 0.9, 0.95)),
                    min_p=float(pick(0, 0, 0, 0.05, 0.5, 1)), repetition=float(pick(1, 1, 1, 1.1, 0.8)), presence=float(pick(0, 0, 0.6, -1)),
                    frequency=float(pick(0, 0, 0.3, -0.7)), seed=int(random.integers(-2**62, 2**62)), history=history,
                    prompt=int(random.integers(0, len(history) + 1)), top_logprobs=int(pick(-1, -1, 0, 1, 5, 20)), min_tokens=0, bias=[], stops=[], allowed=[])
        if random.random() < 0.2:
            case["bias"] = [[int(i), float(numpy.float32(random.normal() * 5))] for i in set(random.integers(0, vocabulary, 10).tolist())]
        if random.random() < 0.2:
            case["stops"] = sorted(set(random.integers(0, vocabulary, 3).tolist()))
            case["min_tokens"] = int(pick(0, 1000))
        if random.random() < 0.2:
            case["allowed"] = sorted(set(random.integers(0, vocabulary, max(1, vocabulary // int(pick(2, 50, 5000)))).tolist()))
        if random.random() < 0.05:
            case["broken"] = [[int(random.integers(vocabulary)), pick("nan", "inf")]]
        elif random.random() < 0.1:
            case["broken"] = [[int(i), "-inf"] for i in random.integers(0, vocabulary, int(pick(1, vocabulary)))]
        cases.append(case)
    return cases


def make(path, classes):
    cases = make_cases()
    ints = lambda values: struct.pack(f"<i{len(values)}i", len(values), *values)
    data = struct.pack("<i", len(cases))
    for c in cases:
        data += struct.pack("<i6dq4i", c["vocabulary"], c["temperature"], c["top_p"], c["min_p"], c["repetition"], c["presence"], c["frequency"],
                            c["seed"], c["top_k"], c["prompt"], c["top_logprobs"], c["min_tokens"])
        data += ints(c["history"]) + struct.pack("<i", len(c["bias"])) + b"".join(struct.pack("<if", i, b) for i, b in c["bias"])
        data += ints(c["stops"]) + ints(c["allowed"]) + logits_of(c).tobytes()
    given, result = pathlib.Path(f"{path}.in"), pathlib.Path(f"{path}.out")
    given.write_bytes(data)
    subprocess.run(["java", "-Xmx2g", "-cp", classes, pathlib.Path(__file__).parent / "SampleOracle.java", given, result], check=True)
    answers = result.read_bytes()
    for i, case in enumerate(cases):
        case["expected"] = answers[i * BYTES : (i + 1) * BYTES].hex()
    pathlib.Path(path).write_text(json.dumps(cases))
    given.unlink()
    result.unlink()


class Sampling:
    """The device memory of a batch of rows of one vocabulary."""

    def __init__(self, module, device, rows, vocabulary, parts, in_shared):
        self.kernel, self.vocabulary, self.parts, self.in_shared, self.device = module.kernel("sample"), vocabulary, parts, in_shared, device
        self.rows = (Row * rows)()
        self.kept, self.histories = [], []
        new = lambda count, dtype: torch.zeros(count, dtype=dtype, device=device)
        self.results, self.tokens = new((rows, BYTES), torch.uint8), new(rows, torch.int32)
        self.numbers, self.counts = new(rows * vocabulary, torch.float32), new(rows * vocabulary, torch.int32)
        self.exchange, self.lists = new(rows * 2 * parts * 256, torch.int64), new(rows * 2 * (LIST + 1), torch.int64)
        self.count = rows

    def memory(self, values, dtype):
        if not len(values):
            return None
        self.kept.append(torch.tensor(values, dtype=dtype, device=self.device))
        return self.kept[-1].data_ptr()

    def put(self, i, c):
        mask = None
        if c["allowed"]:
            words = numpy.zeros((self.vocabulary + 63) // 64, numpy.uint64)
            for t in c["allowed"]:
                words[t // 64] |= numpy.uint64(1) << numpy.uint64(t % 64)
            mask = self.memory(words.view(numpy.int64), torch.int64)
        history = self.memory(c["history"] + [-1], torch.int32)
        self.histories.append(self.kept[-1])
        early = len(c["history"]) - c["prompt"] < c["min_tokens"]
        stops = c["stops"] if early else []
        self.rows[i] = Row(c["temperature"], c["top_p"], c["min_p"], c["seed"] & (2**64 - 1), len(c["history"]), history,
                           self.memory([b[0] for b in c["bias"]], torch.int32), self.memory([b[1] for b in c["bias"]], torch.float32),
                           self.memory(stops, torch.int32), mask, c["top_k"], c["prompt"], len(c["history"]), len(c["bias"]), len(stops),
                           c["top_logprobs"], 1, c["repetition"], c["presence"], c["frequency"])

    def upload(self):
        self.table = torch.frombuffer(bytearray(bytes(self.rows)), dtype=torch.uint8).to(self.device)

    def run(self, logits, programmatic=False):
        width = -(-(-(-self.vocabulary // self.parts)) // 32) * 32
        shared = width // 32 * 8 + (width * 4 if self.in_shared else 0)
        self.kernel((self.parts, self.count, 1), (512, 1, 1),
                    [logits, long(logits.stride(0)), self.vocabulary, self.table, self.results, self.tokens, self.numbers, self.counts, self.exchange,
                     self.lists, int(self.in_shared)], shared, (self.parts, 1, 1) if self.parts > 1 else None, programmatic)


def decoded(data):
    token, failure, chosen, count = struct.unpack_from("<iifi", data)
    return token, failure, chosen, struct.unpack_from("<20i", data, 16)[:count], struct.unpack_from("<20f", data, 96)[:count]


def check(module, device, cases):
    wrong = drawn = 0
    for c in cases:
        logits = torch.from_numpy(logits_of(c))[None].to(device)
        options = [(1, False), (1, True)] if device == "cpu" else [(1, False), (4, True), (8, True), (8, False)]
        for parts, in_shared in options:
            if in_shared and c["vocabulary"] // parts > 50000:
                continue
            s = Sampling(module, device, 1, c["vocabulary"], parts, in_shared)
            s.put(0, c)
            s.upload()
            s.run(logits)
            token, failure, chosen, ids, values = decoded(s.results[0].cpu().numpy().tobytes())
            expected = decoded(bytes.fromhex(c["expected"]))
            good = token == expected[0] and (failure != 0) == (expected[1] != 0)
            if good and failure == 0 and c["top_logprobs"] >= 0:
                close = lambda a, b: a == b or abs(a - b) <= 1e-6 * max(1, abs(b))
                good = close(chosen, expected[2]) and ids == expected[3] and all(map(close, values, expected[4]))
            good = good and int(s.tokens[0]) == max(token, 0) and int(s.counts.abs().sum()) == 0
            good = good and int(s.lists.view(2, -1)[:, 0].abs().sum()) == 0
            good = good and (failure != 0 or int(s.histories[0][-1]) == token)
            drawn += 1
            if not good:
                wrong += 1
                small = {k: v for k, v in c.items() if k not in ("history", "expected", "allowed", "broken")}
                print("WRONG", parts, in_shared, "got", token, failure, chosen, ids[:3], "expected", expected[:4], small, flush=True)
    print(f"{drawn} samplings, {wrong} wrong", flush=True)
    return wrong


def measure(module):
    plain = dict(min_p=0, seed=5, history=[1, 2, 3], prompt=1, min_tokens=0, bias=[], stops=[], allowed=[], repetition=1, presence=0, frequency=0)
    kinds = {"greedy": dict(temperature=0, top_k=0, top_p=1, top_logprobs=-1), "temperature": dict(temperature=1, top_k=0, top_p=1, top_logprobs=-1),
             "top-k 50, top-p 0.9": dict(temperature=0.7, top_k=50, top_p=0.9, top_logprobs=-1),
             "top-p 0.9": dict(temperature=1, top_k=0, top_p=0.9, top_logprobs=-1), "greedy, 20 logprobs": dict(temperature=0, top_k=0, top_p=1, top_logprobs=20)}
    for vocabulary in (50257, 128256):
        for rows in (1, 16, 64, 128, 256):
            logits = torch.randn(rows, vocabulary, device="cuda") * 2.5
            for kind, options in kinds.items():
                line = f"{vocabulary} x {rows:3d} {kind:20s}"
                for parts in (1, 2, 4, 8):
                    width = -(-vocabulary // parts)
                    s = Sampling(module, "cuda", rows, vocabulary, parts, width <= 50000)
                    for i in range(rows):
                        s.put(i, plain | options | dict(seed=i))
                    s.upload()
                    taken = time_graph([lambda: s.run(logits, True)] * 20)
                    line += f" | {parts} parts {taken * 1e6:6.1f} us"
                print(line, flush=True)


def main():
    if sys.argv[1] == "make":
        make(sys.argv[2], sys.argv[3])
        return
    cases = json.loads(pathlib.Path(sys.argv[2]).read_text())
    if sys.argv[1] == "emulate":
        import emulator
        module = emulator.Module("sample.cu")
        wrong = check(module, "cpu", [c for c in cases if c["vocabulary"] < 10000])
        print(f"{module.races()} races")
        sys.exit(1 if wrong or module.races() else 0)
    module = Module(f"{sys.argv[1]}/sample.sm_90a.cubin")
    wrong = check(module, "cuda", cases)
    if "time" in sys.argv:
        measure(module)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
