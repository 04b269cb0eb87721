"""Checks and times the attention kernels on a GPU: attention.py DIR [check|both|few|fresh|many ...], with the cubins of compile.py in DIR.

attention.py emulate check both runs those of sm_80 on the CPU, with shorter contexts.
"""

import ctypes
import pathlib
import random
import sys

import torch

from driver import Module, long, tensor_map, time_graph

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
PAGE = 16
SPLIT = 128
STAGES = {64: 3, 80: 4, 96: 3, 128: 3, 256: 2, 512: 1}
WARP_HALVES = {64: 4, 128: 3}
LEAST_WARP_PAIRS = 500  # pairs of row and key head from which a warp for each is faster
WARP_APPEND_PAIRS = (600, 1200)  # and where such a warp may append as well
HALVES = {32: 1, 64: 1, 80: 1, 96: 1, 128: 1, 256: 2, 512: 4}
NAMES = {torch.bfloat16: "bf16", torch.float16: "f16"}


class Batch:
    """A ragged batch on paged keys and values: sequences of `contexts` tokens of which the last `fresh` are rows."""

    def __init__(self, contexts, fresh, key_heads, group, size, dtype, window=0, cap=0.0, sinks=False, fill=True):
        self.contexts, self.fresh = contexts, fresh
        self.key_heads, self.group, self.size, self.dtype = key_heads, group, size, dtype
        self.window, self.cap = window, cap
        self.scale = size**-0.5
        heads = key_heads * group
        self.sinks = torch.randn(heads, device=DEVICE) if sinks else None
        self.max_pages = max((c + PAGE - 1) // PAGE for c in contexts) + 1
        pages = sum((c + PAGE - 1) // PAGE for c in contexts) + 3
        self.page_elements = key_heads * PAGE * size * 2
        self.cache = torch.full((pages, 2, key_heads, PAGE, size), float("nan"), device=DEVICE, dtype=dtype)
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
            at = torch.tensor(mine, device=DEVICE)
            if fill:
                data = torch.randn(2, key_heads, used * PAGE, size, device=DEVICE).to(dtype)
                data[:, :, context:] = float("nan")
                self.keys.append(data[0, :, :context])
                self.values.append(data[1, :, :context])
                self.cache[at] = data.view(2, key_heads, used, PAGE, size).permute(2, 0, 1, 3, 4)
            else:
                self.cache[at] = torch.randn(used, 2, key_heads, PAGE, size, device=DEVICE).to(dtype)
            positions += range(context - count, context)
            sequence_of += [s] * count
            rows += count
            starts.append(rows)
        self.rows = rows
        self.starts = starts
        self.context_length = torch.tensor([c - f for c, f in zip(contexts, fresh)], dtype=torch.int32, device=DEVICE)
        self.table = table.to(DEVICE)
        self.positions = torch.tensor(positions, dtype=torch.int32, device=DEVICE)
        self.sequence_of = torch.tensor(sequence_of, dtype=torch.int32, device=DEVICE)
        self.row_start = torch.tensor(starts, dtype=torch.int32, device=DEVICE)
        counts = [p // SPLIT + 1 for p in positions]
        self.entries = sum(counts)
        self.first_entry = torch.tensor([sum(counts[:i]) for i in range(rows)] if rows < 2000 else [0] * rows, dtype=torch.int32, device=DEVICE)
        self.query = torch.randn(rows, heads * size + 8, device=DEVICE).to(dtype)[:, : heads * size]
        self.partials = torch.full((min(self.entries, 200000) * heads * (size + 2),), float("nan"), device=DEVICE) if rows < 2000 else self.query
        self.counters = torch.zeros(rows * key_heads * ((group + 15) // 16), dtype=torch.int32, device=DEVICE)
        per_tile = 128 // HALVES[size] // group
        self.tiles = torch.tensor(
            [[s, r] for s in range(len(contexts)) for r in range(starts[s], starts[s + 1], per_tile)], dtype=torch.int32, device=DEVICE)

    def arguments(self, out):
        return [self.query, long(self.query.stride(0)), self.cache, long(self.page_elements), self.table, self.max_pages, self.key_heads,
                self.group, float(self.scale), float(self.cap), self.window, self.sinks, out, long(out.stride(0)), self.positions]

    def exact(self):
        heads = self.key_heads * self.group
        out = torch.empty(self.rows, heads, self.size, device=DEVICE, dtype=torch.float64)
        for s, context in enumerate(self.contexts):
            rows = slice(self.starts[s], self.starts[s + 1])
            q = self.query[rows].double().view(-1, heads, self.size)
            k = self.keys[s].double().repeat_interleave(self.group, 0)
            v = self.values[s].double().repeat_interleave(self.group, 0)
            scores = torch.einsum("rhd,hpd->hrp", q, k) * self.scale
            if self.cap:
                scores = self.cap * torch.tanh(scores / self.cap)
            position = torch.arange(context, device=DEVICE)
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


class NormArguments(ctypes.Structure):
    _fields_ = [("takes_mean", ctypes.c_bool), ("weight", ctypes.c_void_p), ("offset", ctypes.c_float), ("bias", ctypes.c_void_p),
                ("epsilon", ctypes.c_float)]


class RopeArguments(ctypes.Structure):
    _fields_ = [("frequencies", ctypes.c_void_p), ("pairs", ctypes.c_int), ("factor", ctypes.c_float), ("interleaved", ctypes.c_int)]


class PageArguments(ctypes.Structure):
    _fields_ = [("cache", ctypes.c_void_p), ("elements", ctypes.c_longlong), ("table", ctypes.c_void_p), ("max_pages", ctypes.c_int),
                ("row_sequence", ctypes.c_void_p), ("positions", ctypes.c_void_p)]


class Fresh:
    """New queries, keys and values of rows, in one array as a product leaves them, and what is done to them."""

    def __init__(self, batch, all_rows, norms=False, rope=True, interleaved=False):
        size, heads, keys = batch.size, batch.key_heads * batch.group, batch.key_heads
        self.query = all_rows[:, : heads * size]
        self.key = all_rows[:, heads * size : (heads + keys) * size]
        self.value = all_rows[:, (heads + keys) * size : (heads + 2 * keys) * size]
        self.stride = long(all_rows.stride(0))
        self.heads, self.key_heads, self.size = heads, keys, size
        self.weights = [torch.rand(size, device=DEVICE) + 0.5 for _ in range(2)]
        self.norms = [NormArguments(False, w.data_ptr() if norms else None, 0.0, None, 1e-5) for w in self.weights]
        self.frequencies = 500000.0 ** (-torch.arange(0, size // 2, device=DEVICE) * 2 / size)
        self.rope = RopeArguments(self.frequencies.data_ptr(), size // 2, 1.0, int(interleaved)) if rope else RopeArguments(None, 0, 1.0, 0)

    def arguments(self):
        return [self.key, self.stride, self.value, self.stride, self.norms[0], 0, self.norms[1], 0, self.rope]

    def append(self, kernel, batch, pdl=False):
        pages = PageArguments(batch.cache.data_ptr(), batch.page_elements, batch.table.data_ptr(), batch.max_pages,
                              batch.sequence_of.data_ptr(), batch.positions.data_ptr())
        heads = (self.heads if self.rope.pairs or self.norms[0].weight else 0) + 2 * self.key_heads
        of_warp = min(64, max(1, batch.rows * heads // 8192))
        kernel((-(-batch.rows * -(-heads // of_warp) // 4), 1, 1), (128, 1, 1),
               [self.query, self.stride, self.key, self.stride, self.value, self.stride, self.heads, self.key_heads, self.size, self.size,
                self.norms[0], 0, self.norms[1], 0, self.rope, pages, batch.rows, of_warp], programmatic=pdl)


class Kernels:
    def __init__(self, folder):
        self.emulates = folder == "emulate"
        if self.emulates:
            import emulator
            self.modules = {kind: emulator.Module(f"attention_{kind}.cu") for kind in ("decode", "decode_warp", "prefill", "both")}
            self.rows = emulator.Module("rows.cu")
        else:
            files = {kind: pathlib.Path(folder) / f"attention_{kind}.sm_90a.cubin" for kind in ("decode", "decode_hopper", "decode_warp", "prefill", "prefill_hopper", "both")}
            self.modules = {kind: Module(path) for kind, path in files.items() if path.exists()}
            self.rows = Module(f"{folder}/rows.sm_90a.cubin")
        self.modules["decode_append"] = self.modules["decode"]
        if "decode_hopper" in self.modules:
            self.modules["decode_hopper_append"] = self.modules["decode_hopper"]
        self.modules["decode_warp_append"] = self.modules.get("decode_warp")
        self.kernels = {}
        self.wrong = 0

    def fails(self, *what):
        self.wrong += 1
        print(*what, flush=True)

    def races(self):
        return sum(module.races() for module in {*self.modules.values(), self.rows}) if self.emulates else 0

    def has(self, run, batch):
        """Whether there is a kernel for such a run of check() or check_fresh()."""
        if run == "prefill_hopper":
            return run in self.modules and batch.size in (64, 128, 256) and not batch.cap
        if run == "decode_warp":
            return run in self.modules and self.has_decode_warp(batch)
        return not (self.emulates and "cluster" in str(run))  # sm_80 has no clusters

    def kernel(self, kind, batch):
        name = f"attention_{kind}_{batch.size}_{NAMES[batch.dtype]}"
        if name not in self.kernels:
            self.kernels[name] = self.modules[kind].kernel(name)
        return self.kernels[name]

    def decode(self, batch, out, parts, pdl=False, cluster=False, fresh=None):
        """`parts` blocks for each row and key head; with `fresh` it appends, too, one row a sequence."""
        bulk = "decode_hopper" in self.modules and batch.size in (64, 128, 256)
        shared = STAGES[batch.size] * 256 * (batch.size + 8) + 32 * batch.size + 2560
        if bulk:
            shared = 1024 + STAGES[batch.size] * (256 * batch.size + 8) + 32 * batch.size + 2560
        self.kernel("decode" + "_hopper" * bulk + "_append" * (fresh is not None), batch)(
            (parts, batch.key_heads * ((batch.group + 15) // 16), batch.rows), (128, 1, 1),
            batch.arguments(out) + [batch.sequence_of, batch.context_length, batch.partials, batch.first_entry, batch.counters]
            + (fresh.arguments() if fresh else []) + ([tensor_map(batch.cache.view(-1, batch.size), PAGE)] if bulk else []),
            shared, (min(parts, 8), 1, 1) if cluster and parts > 1 else None, pdl)

    @staticmethod
    def has_decode_warp(batch):
        return batch.size in WARP_HALVES and batch.group <= 8

    @staticmethod
    def is_decode_warp(batch):
        return Kernels.has_decode_warp(batch) and batch.rows * batch.key_heads >= LEAST_WARP_PAIRS

    def decode_warp(self, batch, out, fresh=None, pdl=False):
        """A warp for each row and key head; with `fresh` it appends, too."""
        self.kernel("decode_warp_append" if fresh else "decode_warp", batch)(
            (1, batch.key_heads, batch.rows), (32, 1, 1),
            batch.arguments(out) + [batch.sequence_of, batch.context_length, batch.partials, batch.first_entry, batch.counters]
            + (fresh.arguments() if fresh else []),
            WARP_HALVES[batch.size] * 128 * batch.size, None, pdl)

    def append(self, batch, fresh, pdl=False):
        name = f"rope_append_{NAMES[batch.dtype]}"
        if name not in self.kernels:
            self.kernels[name] = self.rows.kernel(name)
        fresh.append(self.kernels[name], batch, pdl)

    def decode_append(self, batch, fresh, out, parts, pdl=False, cluster=False):
        self.decode(batch, out, parts, pdl, cluster, fresh)

    def prefill_hopper(self, batch, out, pdl=False):
        stages = {64: 6, 128: 3, 256: 0}[batch.size]
        shared = (128 + stages * 256) * 2 * batch.size + 1024 + 24 * stages if stages else (64 + 384) * 512 + 1024 + 64
        self.kernel("prefill_hopper", batch)(
            (batch.tiles.shape[0], batch.key_heads, 1), (384, 1, 1),
            batch.arguments(out) + [batch.tiles, batch.row_start, tensor_map(batch.cache.view(-1, batch.size), PAGE)], shared, None, pdl)

    def prefill(self, batch, out, pdl=False):
        shared = (128 // HALVES[batch.size] + 256) * 2 * (batch.size + 8)
        if batch.size == 512:
            shared = (32 + 128) * 2 * (batch.size + 8) + 5120
        self.kernel("prefill", batch)(
            (batch.tiles.shape[0], batch.key_heads, 1), (256, 1, 1),
            batch.arguments(out) + [batch.tiles, batch.row_start], shared, None, pdl)


    def both(self, batch, out, distances=None, by_row=False):
        """In both directions, in tiles or a block for each row; distances are `[heads, 2 * span + 1]`."""
        shared = (128 // HALVES[batch.size] + 256) * 2 * (batch.size + 8)
        blocks = batch.rows if by_row else batch.tiles.shape[0]
        span = 0 if distances is None else distances.shape[1] // 2
        self.kernel("both", batch)(
            (blocks, batch.key_heads, 1), (256, 1, 1),
            batch.arguments(out) + [None if by_row else batch.tiles, batch.row_start, batch.sequence_of, distances, span], shared)


def both_exact(batch, distances):
    heads = batch.key_heads * batch.group
    out = torch.empty(batch.rows, heads, batch.size, device=DEVICE, dtype=torch.float64)
    for s, length in enumerate(batch.contexts):
        rows = slice(batch.starts[s], batch.starts[s + 1])
        q = batch.query[rows].double().view(-1, heads, batch.size)
        k = batch.keys[s].double().repeat_interleave(batch.group, 0)
        v = batch.values[s].double().repeat_interleave(batch.group, 0)
        scores = torch.einsum("rhd,hpd->hrp", q, k) * batch.scale
        position = torch.arange(length, device=DEVICE)
        distance = position[None] - position[:, None]
        if distances is not None:
            span = distances.shape[1] // 2
            scores += distances.double()[:, distance.clamp(-span, span) + span]
        if batch.cap:
            scores = batch.cap * torch.tanh(scores / batch.cap)
        if batch.window:
            scores.masked_fill_((distance.abs() >= batch.window)[None], float("-inf"))
        out[rows] = torch.einsum("hrp,hpd->rhd", scores.softmax(2), v)
    return out.view(batch.rows, -1)


def check_both(kernels):
    torch.manual_seed(3)
    worst = {torch.bfloat16: 0, torch.float16: 0}
    cases = [
        dict(key_heads=2, group=1, size=32), dict(key_heads=2, group=1, size=64), dict(key_heads=1, group=3, size=64, window=20),
        dict(key_heads=1, group=2, size=80, window=65), dict(key_heads=2, group=1, size=96), dict(key_heads=1, group=2, size=128, cap=5.0),
        dict(key_heads=2, group=1, size=128, window=1), dict(key_heads=1, group=3, size=256, window=33),
    ]
    lengths = [1, 3, 31, 64, 65, 150] if kernels.emulates else [1, 3, 31, 64, 65, 150, 512, 1030]
    for dtype in (torch.bfloat16, torch.float16):
        for case in cases:
            for span in (None, 0, 20):
                batch = Batch(lengths, lengths, dtype=dtype, **case)
                heads = batch.key_heads * batch.group
                distances = None if span is None else torch.randn(heads, 2 * span + 1, device=DEVICE)
                exact = both_exact(batch, distances)
                outs = []
                for by_row in (False, True):
                    out = torch.full((batch.rows, exact.shape[1] + 8), float("nan"), device=DEVICE, dtype=dtype)[:, : exact.shape[1]]
                    kernels.both(batch, out, distances, by_row)
                    outs.append(out)
                error = ((outs[0].double() - exact).norm() / exact.norm()).item()
                worst[dtype] = max(worst[dtype], error)
                if not error < (8e-3 if dtype == torch.bfloat16 else 1e-3):
                    kernels.fails("WRONG", dtype, case, span, error)
                if not torch.equal(outs[0], outs[1]):
                    kernels.fails("BITS DIFFER", dtype, case, span)
    print(f"attention in both directions checked; {kernels.wrong} wrong, {kernels.races()} races, worst errors", worst)


def check(kernels):
    torch.manual_seed(2)
    worst = {torch.bfloat16: 0, torch.float16: 0}
    cases = [
        dict(key_heads=2, group=1, size=64), dict(key_heads=2, group=4, size=128), dict(key_heads=1, group=7, size=64),
        dict(key_heads=3, group=2, size=80), dict(key_heads=2, group=3, size=96), dict(key_heads=1, group=2, size=256),
        dict(key_heads=1, group=20, size=128), dict(key_heads=2, group=4, size=128, window=100),
        dict(key_heads=2, group=4, size=128, window=37, sinks=True), dict(key_heads=2, group=2, size=256, cap=5.0, window=200),
        dict(key_heads=2, group=8, size=64, sinks=True), dict(key_heads=1, group=1, size=128, cap=30.0),
        dict(key_heads=4, group=6, size=256), dict(key_heads=1, group=4, size=256, window=150), dict(key_heads=2, group=8, size=512), dict(key_heads=1, group=3, size=512, window=100, sinks=True, cap=5.0),
        dict(key_heads=1, group=20, size=512),
    ]
    contexts, rows = ([1, 64, 65, 300], [1, 3, 20, 2]) if kernels.emulates else ([1, 64, 65, 300, 517, 1030], [1, 3, 65, 40, 1, 300])
    for dtype in (torch.bfloat16, torch.float16):
        for case in cases:
            batch = Batch(contexts, rows, dtype=dtype, **case)
            exact = batch.exact()
            width = exact.shape[1]
            first = None
            for run in ("prefill", 1, 2, 3, 5, 16, 2, "cluster 2", "cluster 5", "cluster 8", "cluster 16", "cluster 64", "cluster 8", "decode_warp", "prefill_hopper"):
                if not kernels.has(run, batch):
                    continue
                out = torch.full((batch.rows, width + 8), float("nan"), device=DEVICE, dtype=dtype)[:, :width]
                if run == "prefill":
                    kernels.prefill(batch, out)
                elif run == "prefill_hopper":
                    kernels.prefill_hopper(batch, out)
                elif run == "decode_warp":
                    kernels.decode_warp(batch, out)
                else:
                    kernels.decode(batch, out, int(str(run).split()[-1]), cluster="cluster" in str(run))
                error = ((out.double() - exact).norm() / exact.norm()).item()
                worst[dtype] = max(worst[dtype], error)
                if not error < (8e-3 if dtype == torch.bfloat16 else 1e-3):
                    kernels.fails("WRONG", dtype, case, run, error)
                first = out if first is None else first
                if not torch.equal(first, out):
                    kernels.fails("BITS DIFFER", dtype, case, run, (first != out).sum().item(), "of", out.numel())
                if batch.counters.any():
                    kernels.fails("COUNTERS LEFT", case, run)
    check_fresh(kernels, [case for case in cases if case["size"] <= 256])
    print(f"attention checked; {kernels.wrong} wrong, {kernels.races()} races, worst errors", worst)


def check_fresh(kernels, cases):
    """Appending within attention leaves the bits that appending before it leaves, in outputs and in pages."""
    for dtype in (torch.bfloat16, torch.float16):
        for case in cases:
            long_ones = [[1, 2, 16, 17, 64, 65, 128, 129, 300, 517, 1030, 3000], [1 + i * 37 % 700 for i in range(150)], [5], [2000]]
            for contexts in ([[1, 16, 17, 65, 129, 300]] if kernels.emulates else long_ones):
                batch = Batch(contexts, [1] * len(contexts), dtype=dtype, **case)
                before = batch.cache.clone()
                width = (batch.group + 2) * batch.key_heads * batch.size
                all_rows = torch.randn(batch.rows, width + 8, device=DEVICE).to(dtype)
                for options in (dict(), dict(norms=True, interleaved=True), dict(rope=False)):
                    unturned = all_rows.clone()
                    fresh = Fresh(batch, unturned, **options)
                    batch.cache.copy_(before)
                    batch.query = fresh.query
                    kernels.append(batch, fresh)
                    expected = torch.full((batch.rows, batch.key_heads * batch.group * batch.size), float("nan"), device=DEVICE, dtype=dtype)
                    kernels.decode(batch, expected, 1)
                    cache = batch.cache.clone()
                    if not torch.isfinite(expected).all():
                        kernels.fails("NOT FINITE", case, options)
                    for run in (1, 3, "cluster 2", "cluster 8", "cluster 16", "cluster 64", "decode_warp"):
                        if not kernels.has(run, batch):
                            continue
                        unturned.copy_(all_rows)
                        batch.cache.copy_(before)
                        out = torch.full_like(expected, float("nan"))
                        if run == "decode_warp":
                            kernels.decode_warp(batch, out, fresh)
                        else:
                            kernels.decode_append(batch, fresh, out, int(str(run).split()[-1]), cluster="cluster" in str(run))
                        if not torch.equal(out, expected):
                            kernels.fails("FRESH BITS DIFFER", dtype, case, len(contexts), options, run, (out != expected).sum().item(), "of", out.numel())
                        if not torch.equal(batch.cache.view(torch.int16), cache.view(torch.int16)):
                            kernels.fails("PAGES DIFFER", dtype, case, len(contexts), options, run)
                        if batch.counters.any():
                            kernels.fails("COUNTERS LEFT", case, run)


def few(kernels):
    shapes = [
        ("gpt2", 12, 1, 64, 300, (1, 8, 32, 128)),
        ("llama", 8, 4, 128, 1024, (1, 8, 64, 256)),
        ("llama long", 8, 4, 128, 32768, (1, 4)),
        ("qwen3.6", 2, 8, 256, 1024, (1, 8)),
        ("qwen3.6", 2, 8, 256, 32768, (1, 4)),
        ("gemma4", 2, 8, 512, 1024, (1, 8, 64)),
        ("gemma4", 2, 8, 512, 32768, (1,)),
    ]
    for name, key_heads, group, size, context, batches in shapes:
        for count in batches:
            bytes_ = count * key_heads * context * size * 4
            sets = max(2, min(16, int(300e6 / bytes_) + 1))
            all_batches = [Batch([context] * count, [1] * count, key_heads, group, size, torch.bfloat16, fill=False) for _ in range(sets)]
            out = torch.empty_like(all_batches[0].query)
            line = f"{name:10s} rows {count:4d} context {context:6d}"
            for parts in (1, 2, 4, 8, 16, 32, 64):
                if parts > 1 and parts > context // 64 + 1:
                    continue
                cluster = parts > 1
                taken = [time_graph([lambda b=b: kernels.decode(b, out, parts, pdl, pdl and cluster) for b in all_batches * 2]) for pdl in (False, True)]
                line += f" | {parts}: {taken[0] * 1e6:6.1f} pdl{' cluster' if cluster else ''} {taken[1] * 1e6:6.1f} us {bytes_ / taken[1] / 1e12:4.2f} TB/s"
            print(line, flush=True)


def fresh(kernels):
    """Decode steps: appending before attention and within it."""
    shapes = [("gpt2", 12, 1, 64, 300, (1, 8, 32, 64, 128, 256)), ("llama", 8, 4, 128, 1024, (1, 8, 16, 32, 64, 256)), ("qwen3.6", 2, 8, 256, 1024, (1, 4))]
    for name, key_heads, group, size, context, batches in shapes:
        for count in batches:
            bytes_ = count * key_heads * context * size * 4
            sets = max(2, min(16, int(300e6 / bytes_) + 1))
            pairs = []
            for _ in range(sets):
                batch = Batch([context] * count, [1] * count, key_heads, group, size, torch.bfloat16, fill=False)
                new = Fresh(batch, torch.randn(count, (group + 2) * key_heads * size, device=DEVICE).to(torch.bfloat16), rope=name != "gpt2")
                batch.query = new.query
                pairs.append((batch, new))
            out = torch.empty(count, key_heads * group * size, device=DEVICE, dtype=torch.bfloat16)
            line = f"{name:6s} rows {count:4d}"
            parts = max(1, min(8, 200 // (count * key_heads)))

            def apart(b, f):
                kernels.append(b, f, True)
                kernels.decode(b, out, parts, True, True)

            runs = {"apart": apart, "step": lambda b, f: kernels.decode_append(b, f, out, parts, True, True), "step 1": lambda b, f: kernels.decode_append(b, f, out, 1, True),
                    **{f"step {p}": lambda b, f, p=p: kernels.decode_append(b, f, out, p, True, True) for p in (4, 8, 16, 32, 64) if p * count * key_heads <= 132}}
            if kernels.has_decode_warp(pairs[0][0]):
                runs["decode_warp"] = lambda b, f: kernels.decode_warp(b, out, f, True)
            for what, run in runs.items():
                taken = time_graph([lambda p=p, run=run: run(*p) for p in pairs * 2])
                line += f" | {what} {taken * 1e6:6.1f} us {bytes_ / taken / 1e12:4.2f} TB/s"
            print(line, flush=True)


def many(kernels):
    for name, key_heads, group, size, length in (("gpt2", 12, 1, 64, 512), ("gpt2", 12, 1, 64, 1024), ("llama", 8, 4, 128, 512), ("llama", 8, 4, 128, 2048), ("llama", 8, 4, 128, 8192),
                                                      ("qwen3.6", 4, 6, 256, 2048), ("qwen3.6", 4, 6, 256, 8192),
                                                      ("gemma4", 2, 8, 512, 2048), ("gemma4", 2, 8, 512, 8192)):
        count = max(1, 2048 // length)
        batch = Batch([length] * count, [length] * count, key_heads, group, size, torch.bfloat16, fill=False)
        out = torch.empty_like(batch.query)
        plain = time_graph([lambda: kernels.prefill(batch, out)] * 4)
        taken = time_graph([lambda: kernels.prefill_hopper(batch, out)] * 4) if kernels.has("prefill_hopper", batch) else plain
        work = 4 * count * length * length / 2 * key_heads * group * size
        q = torch.randn(count, key_heads * group, length, size, device=DEVICE, dtype=torch.bfloat16)
        kv = torch.randn(2, count, key_heads, length, size, device=DEVICE, dtype=torch.bfloat16)
        k, v = [x.repeat_interleave(group, 1) for x in kv]
        peer = time_graph([lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)] * 4)
        print(f"{name:6s} {count} x {length:5d}: mma {plain * 1e6:8.1f} us, wgmma {taken * 1e6:8.1f} us {work / taken / 1e12:4.0f} TFLOP/s; torch {peer * 1e6:8.1f} us {work / peer / 1e12:4.0f}", flush=True)


def main():
    kernels = Kernels(sys.argv[1])
    for what in sys.argv[2:]:
        {"check": check, "both": check_both, "few": few, "fresh": fresh, "many": many}[what](kernels)
    if not kernels.emulates:
        torch.cuda.synchronize()
    sys.exit(1 if kernels.wrong or kernels.races() else 0)


if __name__ == "__main__":
    main()
