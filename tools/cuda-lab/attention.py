"""Checks and times the attention kernels on a GPU: attention.py DIR [check|few|many ...], with the cubins of compile.py in DIR."""

import random
import sys

import torch

from driver import Module, long, time_graph

PAGE = 16
SPLIT = 128
STAGES = {64: 3, 80: 4, 96: 3, 128: 3, 256: 2}
HALVES = {64: 1, 80: 1, 96: 1, 128: 1, 256: 2}
NAMES = {torch.bfloat16: "bf16", torch.float16: "f16"}


class Batch:
    """A ragged batch on paged keys and values: sequences of `contexts` tokens of which the last `fresh` are rows."""

    def __init__(self, contexts, fresh, key_heads, group, size, dtype, window=0, cap=0.0, sinks=False, fill=True):
        self.contexts, self.fresh = contexts, fresh
        self.key_heads, self.group, self.size, self.dtype = key_heads, group, size, dtype
        self.window, self.cap = window, cap
        self.scale = size**-0.5
        heads = key_heads * group
        self.sinks = torch.randn(heads, device="cuda") if sinks else None
        self.max_pages = max((c + PAGE - 1) // PAGE for c in contexts) + 1
        pages = sum((c + PAGE - 1) // PAGE for c in contexts) + 3
        self.page_elements = key_heads * PAGE * size * 2
        self.cache = torch.full((pages, 2, key_heads, PAGE, size), float("nan"), device="cuda", dtype=dtype)
        free = list(range(pages))
        random.Random(1).shuffle(free)
        table = torch.full((len(contexts), self.max_pages), -1, dtype=torch.int32)
        self.keys, self.values = [], []
        rows, positions, sequence_of = 0, [], []
        starts = [0]
        for s, (context, count) in enumerate(zip(contexts, fresh)):
            used = (context + PAGE - 1) // PAGE
            mine = [free.pop() for _ in range(used)]
            hidden = max(0, context - count + 1 - window) // PAGE if window else 0
            table[s, :used] = torch.tensor(mine, dtype=torch.int32)
            table[s, :hidden] = -1
            at = torch.tensor(mine, device="cuda")
            if fill:
                data = torch.randn(2, key_heads, used * PAGE, size, device="cuda").to(dtype)
                data[:, :, context:] = float("nan")
                self.keys.append(data[0, :, :context])
                self.values.append(data[1, :, :context])
                self.cache[at] = data.view(2, key_heads, used, PAGE, size).permute(2, 0, 1, 3, 4)
            else:
                self.cache[at] = torch.randn(used, 2, key_heads, PAGE, size, device="cuda").to(dtype)
            positions += range(context - count, context)
            sequence_of += [s] * count
            rows += count
            starts.append(rows)
        self.rows = rows
        self.starts = starts
        self.context_length = torch.tensor([c - f for c, f in zip(contexts, fresh)], dtype=torch.int32, device="cuda")
        self.table = table.cuda()
        self.positions = torch.tensor(positions, dtype=torch.int32, device="cuda")
        self.sequence_of = torch.tensor(sequence_of, dtype=torch.int32, device="cuda")
        self.row_start = torch.tensor(starts, dtype=torch.int32, device="cuda")
        counts = [p // SPLIT + 1 for p in positions]
        self.entries = sum(counts)
        self.first_entry = torch.tensor([sum(counts[:i]) for i in range(rows)] if rows < 2000 else [0] * rows, dtype=torch.int32, device="cuda")
        self.query = torch.randn(rows, heads * size + 8, device="cuda").to(dtype)[:, : heads * size]
        self.partials = torch.full((min(self.entries, 200000) * heads * (size + 2),), float("nan"), device="cuda") if rows < 2000 else self.query
        self.counters = torch.zeros(rows * key_heads * ((group + 15) // 16), dtype=torch.int32, device="cuda")
        per_tile = 128 // HALVES[size] // group
        self.tiles = torch.tensor(
            [[s, r] for s in range(len(contexts)) for r in range(starts[s], starts[s + 1], per_tile)], dtype=torch.int32, device="cuda")

    def arguments(self, out):
        return [self.query, long(self.query.stride(0)), self.cache, long(self.page_elements), self.table, self.max_pages, self.key_heads,
                self.group, float(self.scale), float(self.cap), self.window, self.sinks, out, long(out.stride(0)), self.positions]

    def exact(self):
        heads = self.key_heads * self.group
        out = torch.empty(self.rows, heads, self.size, device="cuda", dtype=torch.float64)
        for s, context in enumerate(self.contexts):
            rows = slice(self.starts[s], self.starts[s + 1])
            q = self.query[rows].double().view(-1, heads, self.size)
            k = self.keys[s].double().repeat_interleave(self.group, 0)
            v = self.values[s].double().repeat_interleave(self.group, 0)
            scores = torch.einsum("rhd,hpd->hrp", q, k) * self.scale
            if self.cap:
                scores = self.cap * torch.tanh(scores / self.cap)
            position = torch.arange(context, device="cuda")
            own = self.positions[rows].long()
            hidden = position[None] > own[:, None]
            if self.window:
                hidden |= position[None] <= own[:, None] - self.window
            scores.masked_fill_(hidden[None], float("-inf"))
            if self.sinks is not None:
                sink = self.sinks.double()[:, None, None].expand(-1, scores.shape[1], 1)
                scores = torch.cat([scores, sink], 2)
                v = torch.cat([v, torch.zeros_like(v[:, :1])], 1)
            out[rows] = torch.einsum("hrp,hpd->rhd", scores.softmax(2), v)
        return out.view(self.rows, -1)


class Kernels:
    def __init__(self, folder):
        self.modules = {kind: Module(f"{folder}/attention_{kind}.sm_90a.cubin") for kind in ("few", "many", "hopper")}
        self.kernels = {}

    def kernel(self, kind, batch):
        name = f"attention_{kind}_{batch.size}_{NAMES[batch.dtype]}"
        if name not in self.kernels:
            self.kernels[name] = self.modules[kind].kernel(name)
        return self.kernels[name]

    def few(self, batch, out, parts, pdl=False, cluster=False):
        shared = STAGES[batch.size] * 256 * (batch.size + 8) + 32 * batch.size + 2560
        self.kernel("few", batch)(
            (parts, batch.key_heads * ((batch.group + 15) // 16), batch.rows), (128, 1, 1),
            batch.arguments(out) + [batch.sequence_of, batch.context_length, batch.partials, batch.first_entry, batch.counters],
            shared, (parts, 1, 1) if cluster and parts > 1 else None, pdl)

    def hopper(self, batch, out, pdl=False):
        stages = {64: 6, 128: 5}[batch.size]
        shared = (128 + stages * 128) * 2 * batch.size + 1024 + 16 * stages
        self.kernel("hopper", batch)(
            (batch.tiles.shape[0], batch.key_heads, 1), (384, 1, 1),
            batch.arguments(out) + [batch.tiles, batch.row_start], shared, None, pdl)

    def many(self, batch, out, pdl=False):
        shared = (128 // HALVES[batch.size] + 256) * 2 * (batch.size + 8)
        self.kernel("many", batch)(
            (batch.tiles.shape[0], batch.key_heads, 1), (256, 1, 1),
            batch.arguments(out) + [batch.tiles, batch.row_start], shared, None, pdl)


def check(kernels):
    torch.manual_seed(2)
    worst = {torch.bfloat16: 0, torch.float16: 0}
    cases = [
        dict(key_heads=2, group=1, size=64), dict(key_heads=2, group=4, size=128), dict(key_heads=1, group=7, size=64),
        dict(key_heads=3, group=2, size=80), dict(key_heads=2, group=3, size=96), dict(key_heads=1, group=2, size=256),
        dict(key_heads=1, group=20, size=128), dict(key_heads=2, group=4, size=128, window=100),
        dict(key_heads=2, group=4, size=128, window=37, sinks=True), dict(key_heads=2, group=2, size=256, cap=5.0, window=200),
        dict(key_heads=2, group=8, size=64, sinks=True), dict(key_heads=1, group=1, size=128, cap=30.0),
    ]
    for dtype in (torch.bfloat16, torch.float16):
        for case in cases:
            batch = Batch([1, 64, 65, 300, 517, 1030], [1, 3, 65, 40, 1, 300], dtype=dtype, **case)
            exact = batch.exact()
            width = exact.shape[1]
            first = None
            for run in ("many", 1, 2, 3, 5, 16, 2, "cluster 2", "cluster 5", "cluster 8", "hopper"):
                if run == "hopper" and batch.size not in (64, 128):
                    continue
                out = torch.full((batch.rows, width + 8), float("nan"), device="cuda", dtype=dtype)[:, :width]
                if run == "many":
                    kernels.many(batch, out)
                elif run == "hopper":
                    kernels.hopper(batch, out)
                else:
                    kernels.few(batch, out, int(str(run).split()[-1]), cluster="cluster" in str(run))
                error = ((out.double() - exact).norm() / exact.norm()).item()
                worst[dtype] = max(worst[dtype], error)
                if not error < (8e-3 if dtype == torch.bfloat16 else 1e-3):
                    print("WRONG", dtype, case, run, error)
                first = out if first is None else first
                if not torch.equal(first, out):
                    print("BITS DIFFER", dtype, case, run, (first != out).sum().item(), "of", out.numel())
                if batch.counters.any():
                    print("COUNTERS LEFT", case, run)
    print("attention checked; worst errors", worst)


def few(kernels):
    shapes = [
        ("gpt2", 12, 1, 64, 300, (1, 8, 32, 128)),
        ("llama", 8, 4, 128, 1024, (1, 8, 64, 256)),
        ("llama long", 8, 4, 128, 32768, (1, 4)),
    ]
    for name, key_heads, group, size, context, batches in shapes:
        for count in batches:
            bytes_ = count * key_heads * context * size * 4
            sets = max(2, min(16, int(300e6 / bytes_) + 1))
            all_batches = [Batch([context] * count, [1] * count, key_heads, group, size, torch.bfloat16, fill=False) for _ in range(sets)]
            out = torch.empty_like(all_batches[0].query)
            line = f"{name:10s} rows {count:4d} context {context:6d}"
            for parts in (1, 2, 3, 4, 8, 16, 64):
                if parts > 1 and parts > context // 128 + 1:
                    continue
                cluster = 1 < parts <= 8
                taken = [time_graph([lambda b=b: kernels.few(b, out, parts, pdl, pdl and cluster) for b in all_batches * 2]) for pdl in (False, True)]
                line += f" | {parts}: {taken[0] * 1e6:6.1f} pdl{' cluster' if cluster else ''} {taken[1] * 1e6:6.1f} us {bytes_ / taken[1] / 1e12:4.2f} TB/s"
            print(line, flush=True)


def many(kernels):
    for name, key_heads, group, size, length in (("gpt2", 12, 1, 64, 512), ("gpt2", 12, 1, 64, 1024), ("llama", 8, 4, 128, 512), ("llama", 8, 4, 128, 2048), ("llama", 8, 4, 128, 8192)):
        count = max(1, 2048 // length)
        batch = Batch([length] * count, [length] * count, key_heads, group, size, torch.bfloat16, fill=False)
        out = torch.empty_like(batch.query)
        plain = time_graph([lambda: kernels.many(batch, out)] * 4)
        taken = time_graph([lambda: kernels.hopper(batch, out)] * 4)
        work = 4 * count * length * length / 2 * key_heads * group * size
        q = torch.randn(count, key_heads * group, length, size, device="cuda", dtype=torch.bfloat16)
        kv = torch.randn(2, count, key_heads, length, size, device="cuda", dtype=torch.bfloat16)
        k, v = [x.repeat_interleave(group, 1) for x in kv]
        peer = time_graph([lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)] * 4)
        print(f"{name:6s} {count} x {length:5d}: mma {plain * 1e6:8.1f} us, wgmma {taken * 1e6:8.1f} us {work / taken / 1e12:4.0f} TFLOP/s; torch {peer * 1e6:8.1f} us {work / peer / 1e12:4.0f}", flush=True)


def main():
    kernels = Kernels(sys.argv[1])
    for what in sys.argv[2:]:
        {"check": check, "few": few, "many": many}[what](kernels)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
