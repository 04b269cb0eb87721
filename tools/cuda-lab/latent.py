"""Checks and times latent attention on a GPU: latent.py DIR [check|sanitize|few|many ...], with the cubins of compile.py in DIR."""

import random
import sys

import torch

from driver import Module, long, time_graph

PAGE = 16
KEY = 576
VALUE = 512
NAMES = {torch.bfloat16: "bf16", torch.float16: "f16"}
SIZES = {16: (16, 256, 8192 + 2 * 65536 + 4800), 64: (64, 256, 231680), "hopper": (64, 384, 230960)}  # rows, threads, shared memory


def splits_of(end):
    tile = (end - 1) // 64
    return (tile // 4 if tile < 64 else 16 + (tile - 64) // 16) + 1


class Batch:
    """A ragged batch on latent pages: sequences of `contexts` tokens of which the last `fresh` are rows."""

    def __init__(self, contexts, fresh, heads, dtype, fill=True):
        self.contexts, self.fresh, self.heads, self.dtype = contexts, fresh, heads, dtype
        self.scale = 192**-0.5
        used = [(c + PAGE - 1) // PAGE for c in contexts]
        self.max_pages = max(used) + 1
        pages = sum(used) + 3
        self.cache = torch.full((pages, PAGE, KEY), float("nan"), device="cuda", dtype=dtype)
        free = list(range(pages))
        random.Random(1).shuffle(free)
        table = torch.full((len(contexts), self.max_pages), -1, dtype=torch.int32)
        self.keys, self.starts = [], [0]
        positions, sequence_of = [], []
        for s, (context, count) in enumerate(zip(contexts, fresh)):
            mine = [free.pop() for _ in range(used[s])]
            table[s, : used[s]] = torch.tensor(mine, dtype=torch.int32)
            data = torch.randn(used[s] * PAGE, KEY, device="cuda").to(dtype)
            if fill:
                data[context:] = float("nan")
                self.keys.append(data[:context])
            self.cache[torch.tensor(mine, device="cuda")] = data.view(-1, PAGE, KEY)
            positions += range(context - count, context)
            sequence_of += [s] * count
            self.starts.append(len(positions))
        self.rows = len(positions)
        self.table = table.cuda()
        self.positions = torch.tensor(positions, dtype=torch.int32, device="cuda")
        self.sequence_of = torch.tensor(sequence_of, dtype=torch.int32, device="cuda")
        self.row_start = torch.tensor(self.starts, dtype=torch.int32, device="cuda")
        self.query = torch.randn(self.rows, heads * KEY + 8, device="cuda").to(dtype)[:, : heads * KEY]
        self.max_splits = splits_of(max(contexts))

    def tiles(self, tokens):
        pairs = [[s, r] for s in range(len(self.contexts)) for r in range(self.starts[s], self.starts[s + 1], tokens)]
        return torch.tensor(pairs, dtype=torch.int32, device="cuda")

    def output(self):
        return torch.full((self.rows, self.heads * VALUE + 8), float("nan"), device="cuda", dtype=self.dtype)[:, : self.heads * VALUE]

    def exact(self):
        out = torch.empty(self.rows, self.heads, VALUE, device="cuda", dtype=torch.float64)
        for s, context in enumerate(self.contexts):
            rows = slice(self.starts[s], self.starts[s + 1])
            keys = self.keys[s].double()
            scores = torch.einsum("rhd,pd->hrp", self.query[rows].double().view(-1, self.heads, KEY), keys) * self.scale
            hidden = torch.arange(context, device="cuda")[None] > self.positions[rows].long()[:, None]
            scores.masked_fill_(hidden[None], float("-inf"))
            out[rows] = torch.einsum("hrp,pd->rhd", scores.softmax(2), keys[:, :VALUE])
        return out.view(self.rows, -1)


class Kernels:
    def __init__(self, folder):
        module = Module(f"{folder}/attention_latent.sm_90a.cubin")
        generic = Module(f"{folder}/generic_attention.sm_90a.cubin")
        self.attend = {(size, t): module.kernel(f"latent_{size}_{NAMES[t]}") for size in (16, 64) for t in NAMES}
        hopper = Module(f"{folder}/attention_latent_hopper.sm_90a.cubin")
        self.attend |= {("hopper", t): hopper.kernel(f"latent_hopper_{NAMES[t]}") for t in NAMES}
        self.merge = {t: module.kernel(f"latent_merge_{NAMES[t]}") for t in NAMES}
        self.scalar = {t: generic.kernel(f"attention_{NAMES[t]}") for t in NAMES}
        self.blocks = torch.cuda.get_device_properties(0).multi_processor_count
        self.totals = torch.full((self.blocks * 64 * VALUE,), float("nan"), device="cuda")
        self.partials = None

    def launch(self, batch, out, size, parts, tiles, count, pdl):
        rows, threads, shared = SIZES[size]
        items = count * (-(-batch.heads // rows))
        if parts > 1:
            need = batch.rows * batch.max_splits * batch.heads * (VALUE + 2)
            if self.partials is None or self.partials.numel() < need:
                self.partials = torch.full((need,), float("nan"), device="cuda")
        self.attend[size, batch.dtype](
            (items if parts > 1 else min(items, self.blocks), parts, 1), (threads, 1, 1),
            [batch.query, long(batch.query.stride(0)), batch.cache, long(PAGE * KEY), batch.table, batch.max_pages, batch.sequence_of,
             batch.positions, batch.heads, float(batch.scale), out, long(out.stride(0)), tiles, batch.row_start, count, self.partials,
             batch.max_splits, self.totals], shared, None, pdl)
        if parts > 1:
            self.merge[batch.dtype]((batch.heads, batch.rows, 1), (128, 1, 1),
                                    [self.partials, batch.max_splits, batch.heads, batch.positions, out, long(out.stride(0))], 0, None, pdl)

    def few(self, batch, out, size, parts, pdl=False):
        self.launch(batch, out, size, parts, None, batch.rows, pdl)

    def many(self, batch, out, size, tiles=None, pdl=False):
        if tiles is None:
            tiles = batch.tiles(max(1, SIZES[size][0] // batch.heads))
        self.launch(batch, out, size, 1, tiles, tiles.shape[0], pdl)

    def generic(self, batch, out, pdl=False):
        self.scalar[batch.dtype](
            (batch.rows, batch.heads, 1), (128, 1, 1),
            [batch.query, long(batch.query.stride(0)), batch.heads, 1, KEY, VALUE, 1, float(batch.scale), 0.0, 0, None, out, long(out.stride(0)),
             batch.cache, 2 if batch.dtype == torch.bfloat16 else 1, long(PAGE * KEY), PAGE, batch.table, batch.max_pages, batch.sequence_of,
             batch.positions], 4 * (KEY + 64 + VALUE), None, pdl)


def check(kernels):
    torch.manual_seed(3)
    worst = {torch.bfloat16: 0, torch.float16: 0}
    shapes = [([1, 64, 65, 300, 517, 1030], [1, 3, 65, 40, 1, 200]), ([5200, 16, 4097], [2, 16, 1])]
    for dtype in (torch.bfloat16, torch.float16):
        for heads in (16, 128, 40):
            for contexts, fresh in shapes:
                batch = Batch(contexts, fresh, heads, dtype)
                exact = batch.exact()
                first = None
                runs = [(size, "many") for size in SIZES] + [(size, parts) for size in SIZES for parts in (1, 2, 3, 5, 40)]
                for size, run in runs:
                    out = batch.output()
                    kernels.totals.fill_(float("nan"))
                    if run == "many":
                        kernels.many(batch, out, size)
                    else:
                        kernels.few(batch, out, size, run)
                    error = ((out.double() - exact).norm() / exact.norm()).item()
                    worst[dtype] = max(worst[dtype], error)
                    if not error < (8e-3 if dtype == torch.bfloat16 else 1e-3):
                        print("WRONG", dtype, heads, contexts, size, run, error)
                    first = out if first is None else first
                    if not torch.equal(first, out):
                        print("BITS DIFFER", dtype, heads, contexts, size, run, (first != out).sum().item(), "of", out.numel())
                if heads == 16:
                    out = batch.output()
                    kernels.generic(batch, out)
                    print("generic", dtype, ((out.double() - exact).norm() / exact.norm()).item(), "here", error)
        alone_or_together(kernels, dtype)
    print("latent attention checked; worst errors", worst, flush=True)


def sanitize(kernels):
    """Little work of every kind, to be run under compute-sanitizer."""
    for heads in (16, 40):
        batch = Batch([300, 70], [3, 40], heads, torch.bfloat16)
        out = batch.output()
        for size in SIZES:
            kernels.many(batch, out, size)
            kernels.few(batch, out, size, 1)
            kernels.few(batch, out, size, 2)
    torch.cuda.synchronize()
    print("ran", torch.isfinite(out).all().item(), flush=True)


def alone_or_together(kernels, dtype):
    """A row has the same bits alone, in a batch and in a prompt."""
    whole = Batch([700], [700], 16, dtype)
    all_rows = whole.output()
    kernels.many(whole, all_rows, 64)
    for row in (0, 63, 64, 255, 256, 511, 699):
        alone = Batch([row + 1], [1], 16, dtype, fill=False)
        alone.cache, alone.table, alone.max_pages = whole.cache, whole.table, whole.max_pages
        alone.query = whole.query[row : row + 1]
        for size in SIZES:
            for parts in (1, 2, 3):
                out = alone.output()
                kernels.few(alone, out, size, parts)
                if not torch.equal(out[0], all_rows[row]):
                    print("ALONE DIFFERS", dtype, row, size, parts)


def torch_few(batch, context):
    """What PyTorch does with keys that lie in one piece: two products and a softmax."""
    count = batch.rows
    keys = torch.randn(count, context, KEY, device="cuda", dtype=batch.dtype)
    query = batch.query.view(count, batch.heads, KEY)

    def run():
        weights = torch.softmax(torch.bmm(query, keys.transpose(1, 2)) * batch.scale, -1)
        torch.bmm(weights, keys[:, :, :VALUE])

    return run


def sdpa(batch, context):
    count = batch.rows
    keys = torch.randn(count, 1, context, KEY, device="cuda", dtype=batch.dtype).expand(-1, batch.heads, -1, -1)
    query = batch.query.view(count, batch.heads, 1, KEY)
    return lambda: torch.nn.functional.scaled_dot_product_attention(query, keys, keys[..., :VALUE], scale=batch.scale)


def timed(run):
    try:
        return f"{time_graph(run) * 1e6:8.1f}"
    except Exception as failure:  # a peer that has no kernel, or no memory, for it
        torch.cuda.synchronize()
        return f"{type(failure).__name__[:16]}"


def few(kernels):
    for heads in (128, 16):
        for context in (1024, 4096):
            for count in (1, 8, 64):
                bytes_ = count * context * KEY * 2
                work = 2 * count * heads * context * (KEY + VALUE)
                sets = max(2, min(16, int(200e6 / bytes_) + 1))
                batches = [Batch([context] * count, [1] * count, heads, torch.bfloat16, fill=False) for _ in range(sets)]
                out = batches[0].output()
                line = f"heads {heads:3d} context {context} rows {count:3d}:"
                best = 1
                for size in (16, "hopper"):
                    items = count * (-(-heads // SIZES[size][0]))
                    for parts in (1, 2, 4, 8, 16, 19):
                        if parts > batches[0].max_splits or (parts > 1 and items * parts > 600):
                            continue
                        taken = time_graph([lambda b=b, s=size, n=parts: kernels.few(b, out, s, n, True) for b in batches * 2])
                        best = min(best, taken)
                        line += f" {size}x{parts} {taken * 1e6:.1f}"
                line += f" | best {best * 1e6:.1f} us {work / best / 1e12:.0f} TFLOP/s {bytes_ / best / 1e12:.2f} TB/s"
                line += " | generic " + timed([lambda: kernels.generic(batches[0], out)] * 2)
                line += " | torch bmm " + timed([torch_few(b, context) for b in batches[:4]] * 2)
                if heads == 128 and count < 64:
                    line += " | sdpa " + timed([sdpa(b, context) for b in batches[:2]])
                print(line, flush=True)


def many(kernels):
    for heads, length in ((128, 1024), (16, 1024), (16, 4096)):
        batch = Batch([length], [length], heads, torch.bfloat16, fill=False)
        out = batch.output()
        work = heads * length * length * (KEY + VALUE)
        line = f"prompt {length} heads {heads}:"
        for size in (16, "hopper"):
            tiles = batch.tiles(max(1, SIZES[size][0] // heads))
            taken = time_graph([lambda s=size, t=tiles: kernels.many(batch, out, s, t, True)] * 3)
            line += f" {size}: {taken * 1e6:.0f} us {work / taken / 1e12:.0f} TFLOP/s"
        query = batch.query.view(length, heads, KEY)
        keys = torch.randn(length, KEY, device="cuda", dtype=torch.bfloat16)
        mask = torch.full((length, length), float("-inf"), device="cuda", dtype=torch.bfloat16).triu(1)

        def absorbed():
            scores = torch.einsum("rhd,pd->hrp", query, keys) * batch.scale + mask
            torch.einsum("hrp,pd->rhd", torch.softmax(scores, -1), keys[:, :VALUE])

        flat = query.transpose(0, 1)[None].contiguous()
        shared = keys[None, None].expand(1, heads, -1, -1)
        line += " | generic " + (timed([lambda: kernels.generic(batch, out)]) if length == 1024 else "-")
        line += " | torch einsum " + timed([absorbed])
        line += " | sdpa " + timed([lambda: torch.nn.functional.scaled_dot_product_attention(flat, shared, shared[..., :VALUE], is_causal=True, scale=batch.scale)])
        print(line, flush=True)


def main():
    kernels = Kernels(sys.argv[1])
    for what in sys.argv[2:]:
        {"check": check, "sanitize": sanitize, "few": few, "many": many}[what](kernels)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
