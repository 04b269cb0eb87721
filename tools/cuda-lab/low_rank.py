"""Checks and times the kernels of low_rank.cu: low_rank.py DIR [check|time ...], with the cubins of compile.py, low_rank.py emulate check.

`check` compares with float64 on rows with several adapters and none, and requires a row's bits whatever the others have. `time` is of a
decode step of Llama-8B's shape with 64 sequences, as step.py runs it, with adapters of rank 16 on all products.
"""

import struct
import sys

import torch

from driver import long

NAMES = {torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32"}
RANKS, SLICE, TILE, MANY = 16, 1024, 256, 256  # LowRankKernels
EXPANDED = {"each": 4, "": 8, "many": 32}  # rows of a block that expands
SILU, INFINITY = 1, float("inf")


def filled(numbers):
    return -(-numbers // 8) * 8


class Part:
    def __init__(self, first_output, outputs, rank, columns, scale):
        self.first_output, self.outputs, self.rank, self.columns, self.scale = first_output, outputs, rank, columns, scale


def layout(weights, size):
    """The beginning of an adapter as AdapterPacking lays it out, its bytes, and where each part's A and B lie; `weights` are lists of parts."""
    begins = [0]
    for parts in weights:
        begins.append(begins[-1] + len(parts))
    header = struct.pack(f"<{len(begins) + 1}i", len(weights), *begins)
    header += b"\0" * (-len(header) % 16)
    at = len(header) + 48 * begins[-1]
    structs, places = b"", []
    for parts in weights:
        shrinks = []
        for part in parts:
            shrinks.append(at)
            at += part.rank * filled(part.columns) * size
        first_rank = 0
        for part, shrink in zip(parts, shrinks):
            structs += struct.pack("<qqiiiiiifi", shrink, at, part.first_output, part.outputs, first_rank, part.rank, filled(part.columns),
                                   filled(part.outputs), part.scale, 0)
            places.append((shrink, at))
            at += part.rank * filled(part.outputs) * size
            first_rank += part.rank
    return header + structs, -(-at // 16) * 16, places


class LowRank:
    def __init__(self, folder, dtype):
        self.emulates = folder == "emulate"
        if self.emulates:
            import emulator
            module = emulator.Module("low_rank.cu")
        else:
            from driver import Module
            module = Module(f"{folder}/low_rank.sm_90a.cubin")
        self.module = module
        self.kernels = {name: module.kernel(f"low_rank_{name}_{NAMES[dtype]}") for name in ("shrink", "shrink_many", "expand", "expand_each", "expand_many")}
        if dtype != torch.float32:
            for name in ("gated", "gated_each", "gated_many"):
                self.kernels[name] = module.kernel(f"low_rank_{name}_{NAMES[dtype]}")
        self.device = "cpu" if self.emulates else "cuda"

    def shrink(self, x, adapters, weight, ranks, shrunk, many=None, pdl=False):
        rows, columns = x.shape
        many = rows >= MANY if many is None else many
        self.kernels["shrink_many" if many else "shrink"](
            (rows, -(-ranks // RANKS), -(-columns // SLICE)), (128, 1, 1),
            [x, long(x.stride(0)), columns, adapters, weight, shrunk, ranks, rows], programmatic=pdl)

    def expand(self, out, columns, adapters, weight, factor, ranks, tiles, shrunk, kind=None, pdl=False):
        rows = out.shape[0]
        kind = ("many" if rows >= MANY else "") if kind is None else kind
        self.kernels[f"expand_{kind}".strip("_")](
            (-(-rows // EXPANDED[kind]), tiles, 1), (128, 1, 1),
            [out, long(out.stride(0)), adapters, weight, float(factor), shrunk, ranks, -(-columns // SLICE), rows], programmatic=pdl)

    def gate(self, both, columns, adapters, weight, factor, ranks, shrunk, kind=None, pdl=False):
        rows, inner, stride = both.shape[0], both.shape[1] // 2, both.stride(0)
        kind = ("many" if rows >= MANY else "") if kind is None else kind
        self.kernels[f"gated_{kind}".strip("_")](
            (-(-rows // EXPANDED[kind]), -(-inner // TILE), 1), (128, 1, 1),
            [both, long(stride), both[:, inner:], long(stride), adapters, weight, float(factor), shrunk, ranks, -(-columns // SLICE), SILU,
             INFINITY, INFINITY, 0.0, both, long(stride), inner, rows], programmatic=pdl)


def gate_apart(kernel, both, pdl=False):
    """What rows.cu makes of gates and ups, in place."""
    rows, inner, stride = both.shape[0], both.shape[1] // 2, both.stride(0)
    kernel((-(-inner // 1024), rows, 1), (128, 1, 1),
           [both, long(stride), both[:, inner:], long(stride), SILU, INFINITY, INFINITY, 0.0, both, long(stride), inner], programmatic=pdl)


def packed(weights, dtype, device):
    """An adapter with random numbers: its bytes, and the matrices (A, B) of each part as float64."""
    size = torch.finfo(dtype).bits // 8
    header, length, places = layout(weights, size)
    memory = torch.zeros(length, dtype=torch.uint8)
    memory[: len(header)] = torch.frombuffer(bytearray(header), dtype=torch.uint8)
    matrices = []
    for part, (shrink, expand) in zip([part for parts in weights for part in parts], places):
        pair = []
        for at, columns, width in ((shrink, part.columns, filled(part.columns)), (expand, part.outputs, filled(part.outputs))):
            matrix = torch.zeros(part.rank, width)
            matrix[:, :columns] = torch.randn(part.rank, columns) * columns**-0.5
            matrix = matrix.to(dtype)
            memory[at : at + matrix.numel() * size] = matrix.view(torch.uint8).flatten()
            pair.append(matrix[:, :columns].double())
        matrices.append((part, *pair))
    return memory.to(device), matrices


def check(folder):
    torch.manual_seed(5)
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        kernels = LowRank(folder, dtype)
        device = kernels.device
        for columns, outputs, odd in ((1024, 512, 0), (40, 264, 0), (2100, 301, 1), (14336 if device == "cuda" else 3000, 700, 0)):
            first = [Part(0, outputs // 2, 16, columns, 0.5), Part(outputs // 2, outputs - outputs // 2, 5, columns, 2.0)]
            second = [Part(8, outputs - 20, 33, columns, 1.5)]
            made = [packed([[], first], dtype, device), packed([[], second], dtype, device), packed([first], dtype, device)]
            rows = 40
            choice = [0, 0, 0, 1, 2, 1, 1, 3] + [1] * 9 + [2, 2, 1] + [0] * 14 + [3, 2, 1, 2, 2, 1]
            addresses = [made[c][0].data_ptr() if c < 3 else 0 for c in choice]
            buffer = torch.randn(rows, columns + odd, device=device).to(dtype)
            x = buffer[:, odd:] if odd else buffer
            before = torch.randn(rows, outputs, device=device).to(dtype)
            exact = before.double().cpu()
            for r, c in enumerate(choice):
                for part, a, b in made[c][1] if c < 2 else []:
                    exact[r, part.first_output : part.first_output + part.outputs] += 0.75 * part.scale * ((a @ x[r].double().cpu()) @ b)
            ranks, tiles, slices = 33, -(-(outputs // 2) // TILE) + -(-(outputs - outputs // 2) // TILE), -(-columns // SLICE)
            results = []
            for kind in EXPANDED:
                for count, of in ((rows, range(rows)), (1, range(rows))):
                    result = before.clone()
                    for from_row in range(0, rows, count):
                        some = torch.tensor(addresses[from_row : from_row + count], dtype=torch.int64, device=device)
                        shrunk = torch.full((slices, count, ranks), float("nan"), device=device)
                        kernels.shrink(x[from_row : from_row + count], some, 1, ranks, shrunk, kind == "many")
                        kernels.expand(result[from_row : from_row + count], columns, some, 1, 0.75, ranks, tiles, shrunk, kind)
                    results.append(result)
            error = ((results[0].double().cpu() - exact).norm() / exact.norm()).item()
            same = all(torch.equal(results[0], each) for each in results[1:])
            untouched = all(torch.equal(results[0][r], before[r]) for r, c in enumerate(choice) if c > 1)
            print(f"{NAMES[dtype]} {columns} to {outputs}: error {error:.1e}, same bits {same}, others untouched {untouched}", flush=True)
            assert same and untouched and error < {torch.bfloat16: 3e-3, torch.float16: 5e-4, torch.float32: 1e-6}[dtype]
        if dtype != torch.float32:
            check_gates(kernels, folder, dtype)
        if kernels.emulates:
            assert kernels.module.races() == 0


def check_gates(kernels, folder, dtype):
    if kernels.emulates:
        import emulator
        rows_module = emulator.Module("rows.cu")
    else:
        from driver import Module
        rows_module = Module(f"{folder}/rows.sm_90a.cubin")
    kernel, device, columns, inner, rows = rows_module.kernel(f"gated_{NAMES[dtype]}"), kernels.device, 1032, 328, 21
    apart = [[], [Part(0, inner, 16, columns, 0.5), Part(inner, inner, 5, columns, 2.0)]]
    across = [[], [Part(64, 400, 20, columns, 1.5)]]
    made = [packed(weights, dtype, device)[0] for weights in (apart, across)]
    addresses = [0 if c == 2 else made[c].data_ptr() for c in [0, 0, 0, 1, 2, 1, 1] * 3]
    adapters = torch.tensor(addresses, dtype=torch.int64, device=device)
    x, before = torch.randn(rows, columns, device=device).to(dtype), torch.randn(rows, 2 * inner, device=device).to(dtype)
    ranks, tiles = 21, 2 * -(-inner // TILE)
    shrunk = torch.full((-(-columns // SLICE), rows, ranks), float("nan"), device=device)
    kernels.shrink(x, adapters, 1, ranks, shrunk)
    expected = before.clone()
    kernels.expand(expected, columns, adapters, 1, 1.25, ranks, tiles, shrunk)
    gate_apart(kernel, expected)
    for kind in EXPANDED:
        both = before.clone()
        kernels.gate(both, columns, adapters, 1, 1.25, ranks, shrunk, kind)
        assert torch.equal(both[:, :inner], expected[:, :inner]) and torch.equal(both[:, inner:], before[:, inner:])
    print(f"{NAMES[dtype]}: gated at once with the bits of two kernels", flush=True)


class Adapting:
    """Products of gates and ups that add what adapters have, of linear_adapted_hopper.cu."""

    def __init__(self, folder):
        from driver import Module
        self.module, self.kernels = Module(f"{folder}/linear_adapted_hopper.sm_90a.cubin"), {}

    def kernel(self, name, dtype):
        key = f"linear_adapted_{name}_{NAMES[dtype]}"
        if key not in self.kernels:
            self.kernels[key] = self.module.kernel(key)
        return self.kernels[key]

    @staticmethod
    def added(added, columns):
        """The last parameters, of added = (adapters, weight, factor, shrunk, ranks)."""
        adapters, weight, factor, shrunk, ranks = added
        return [adapters, weight, float(factor), shrunk, ranks, -(-columns // SLICE)]

    def run_gated(self, packed, x, out, inner, added, pdl=False):
        from linear import GATED_CONFIGS
        rows, columns = x.shape
        tokens = 8 if rows <= 8 else 16 if rows <= 16 else 32 if rows <= 32 else 64
        producers, stages = GATED_CONFIGS[tokens]
        self.kernel(f"gated_{tokens}", x.dtype)(
            (inner // 64 * -(-rows // tokens), 1, 1), (256 + 32 * producers, 1, 1),
            [packed, x, long(x.stride(0)), None, out, long(out.stride(0)), rows, 2 * inner, columns, 1, 0, 1.0, 0, INFINITY, 0.0, *self.added(added, columns)],
            stages * (16384 + tokens * 128 + 16) + 1024, None, pdl)


def check_products(folder):
    """Products that add have the bits of a product and what is added and gated by a kernel of its own."""
    from linear import Linear
    torch.manual_seed(7)
    for dtype in (torch.bfloat16, torch.float16):
        kernels, linear, adapting = LowRank(folder, dtype), Linear(folder), Adapting(folder)
        for columns, outputs in ((4096, 28672), (1032, 16384), (64, 128)):
            weight = linear.pack(torch.randn(outputs, columns, device="cuda").to(dtype) * columns**-0.5)
            half = outputs // 2
            made = [packed([[], parts], dtype, "cuda")[0] for parts in (
                [Part(0, half, 16, columns, 0.5), Part(half, half, 5, columns, 2.0)], [Part(64, outputs - 72, 13, columns, 1.5)])]
            for rows in (1, 7, 16, 20, 32, 40, 64):
                for choice in ([0] * 64, [0, 0, 0, 1, 2, 1, 1, 0] * 8, [2] * 64):
                    adapters = torch.tensor([made[c].data_ptr() if c < 2 else 0 for c in choice[:rows]], dtype=torch.int64, device="cuda")
                    x = torch.randn(rows, columns, device="cuda").to(dtype)
                    shrunk = torch.full((-(-columns // SLICE), rows, 21), float("nan"), device="cuda")
                    kernels.shrink(x, adapters, 1, 21, shrunk)
                    both = torch.full((rows, outputs), float("nan"), device="cuda", dtype=dtype)
                    linear.run(weight, x, both, outputs, cut=1)
                    kernels.gate(both, columns, adapters, 1, 1.0, 21, shrunk)
                    result = torch.full((rows, half), float("nan"), device="cuda", dtype=dtype)
                    adapting.run_gated(weight, x, result, half, (adapters, 1, 1.0, shrunk, 21))
                    assert torch.equal(result, both[:, :half]), (dtype, columns, outputs, rows, choice[:8], (result != both[:, :half]).sum())
            print(f"{NAMES[dtype]} {columns} to {outputs}: products that add have the bits of two kernels", flush=True)


def time_steps(folder):
    from step import Shape, Step

    class Adapted(Step):
        rank = 16

        def adapt(self, kernels):
            s = self.shape
            projected = (s.heads + 2 * s.key_heads) * s.size
            sizes = [s.heads * s.size, s.key_heads * s.size, s.key_heads * s.size]
            qkv, at = [], 0
            for size in sizes:
                qkv.append(Part(at, size, self.rank, s.width, 1.0))
                at += size
            o = [Part(0, s.width, self.rank, s.heads * s.size, 1.0)]
            up = [Part(0, s.inner, self.rank, s.width, 1.0), Part(s.inner, s.inner, self.rank, s.width, 1.0)]
            down = [Part(0, s.width, self.rank, s.inner, 1.0)]
            self.parts = [qkv, o, up, down]
            header, length, places = layout(self.parts * s.layers, 2)
            self.held = torch.empty(64, length // 2, dtype=torch.bfloat16, device="cuda").normal_(0, 0.02)
            self.held[:, : len(header) // 2] = torch.frombuffer(bytearray(header), dtype=torch.bfloat16).cuda()
            self.shrunk = torch.empty(1 << 22, device="cuda")
            self.kernels = kernels
            self.adapting = Adapting(folder)

        def added(self, state, which, layer, x, out, when):
            if not state["adapts"]:
                return
            parts, rows, pdl = self.parts[which], x.shape[0], True
            ranks = sum(part.rank for part in parts)
            weight = layer * 4 + which
            if when == "before" and "s" in state["does"]:
                self.kernels.shrink(x, state["adapters"], weight, ranks, self.shrunk, pdl=pdl)
            if when == "after" and "e" in state["does"]:
                tiles = sum(-(-part.outputs // TILE) for part in parts)
                self.kernels.expand(out, x.shape[1], state["adapters"], weight, 1.0, ranks, tiles, self.shrunk, state["kind"], pdl=pdl)

        def forward(self, state, fused=True):
            s, batch = self.shape, state["batch"]
            rows, fresh = batch.rows, state["fresh"]
            hidden, normed, projected, inner = state["hidden"], state["normed"], state["projected"], state["inner"]

            def norm():
                self.norm((rows, 1, 1), (min(1024, -(-s.width // 256) * 32), 1, 1),
                          [hidden, long(s.width), 0, self.norm_weight, 0.0, None, 1e-5, normed, long(s.width), s.width], programmatic=True)

            def linear(which, layer, x, packed, out, outputs, **options):
                self.added(state, which, layer, x, out, "before")
                self.linear.run(packed, x, out, outputs, pdl=True, **options)
                self.added(state, which, layer, x, out, "after")

            self.embed((-(-s.width // 1024), rows, 1), (128, 1, 1), [self.packed_table, s.vocabulary, state["ids"], 1.0, 0, hidden, long(s.width), s.width])
            for number, (layer, cache) in enumerate(zip(self.layers, state["caches"])):
                norm()
                linear(0, number, normed, layer["qkv"][1], projected, projected.shape[1])
                batch.query, batch.cache = fresh.query, cache
                self.attention.append(batch, fresh, True)
                if self.attention.is_decode_warp(batch):
                    self.attention.decode_warp(batch, state["attended"], None, True)
                else:
                    self.attention.decode(batch, state["attended"], max(1, min(8, 200 // (rows * s.key_heads))), True, True)
                linear(1, number, state["attended"], layer["o"][1], hidden, s.width, flags=1)
                norm()
                gates = inner[:, : s.inner]
                if state["inside"]:
                    self.added(state, 2, number, normed, inner, "before")
                    self.adapting.run_gated(layer["up"][1], normed, gates, s.inner, (state["adapters"], number * 4 + 2, 1.0, self.shrunk, 2 * self.rank), pdl=True)
                elif "g" in state["does"]:
                    self.added(state, 2, number, normed, inner, "before")
                    self.linear.run(layer["up"][1], normed, inner, inner.shape[1], pdl=True)
                    self.kernels.gate(inner, s.width, state["adapters"], number * 4 + 2, 1.0, 2 * self.rank, self.shrunk, state["kind"], pdl=True)
                elif state["adapts"]:
                    linear(2, number, normed, layer["up"][1], inner, inner.shape[1])
                    gate_apart(self.gated, inner, pdl=True)
                else:
                    self.linear.run_gated_few(layer["up"][1], normed, gates, s.inner, 64, pdl=True)
                linear(3, number, gates, layer["down"][1], hidden, s.width, flags=1)
            norm()
            self.linear.run(self.output, normed, state["logits"], s.vocabulary, pdl=True)

    step = Adapted(folder, Shape("llama"))
    step.adapt(LowRank(folder, torch.bfloat16))
    state = step.prepare([1024] * 64)
    base = step.held.data_ptr()
    length = step.held.stride(0) * 2
    one, each, none = [base] * 64, [base + i * length for i in range(64)], [0] * 64
    few = [base + i // 8 * length for i in range(64)]
    cases = [("warm", none, {}), ("no adapters", none, {"adapts": False}), ("gates apart", none, {"does": ""}), ("one, shrinks alone", one, {"does": "s"}), ("one, expands alone", one, {"does": "eg"})]
    ways = [("", {}), (", a row a warp", {"kind": "each"}), (", gated by the product", {"inside": True}), (", both", {"inside": True, "kind": "each"})]
    cases += [("no adapters, again", none, {"adapts": False})]
    for name, addresses in (("none of 64", none), ("one for all", one), ("eight", few), ("one for each", each)):
        cases += [(f"{name}{way}", addresses, options) for way, options in ways]
    graphs = []
    for name, addresses, options in cases:
        state.update(adapts=True, does="seg", kind=None, inside=False, adapters=torch.tensor(addresses, dtype=torch.int64, device="cuda"))
        state.update(options)
        step.forward(state)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step.forward(state)
        graphs.append((name, graph, state["adapters"], []))
    for _ in range(8):
        for name, graph, _, times in graphs:
            for turn in range(4):
                start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                start.record()
                graph.replay()
                end.record()
                torch.cuda.synchronize()
                if turn:
                    times.append(start.elapsed_time(end) * 1e3)
    first = sorted(graphs[1][3])[len(graphs[1][3]) // 2]
    for name, _, _, times in graphs:
        times.sort()
        middle = times[len(times) // 2]
        print(f"{name:36s} {middle:8.1f} us ({times[0]:.1f} to {times[-1]:.1f}), {100 * (middle / first - 1):+.1f} %", flush=True)


def main():
    folder = sys.argv[1]
    if "check" in sys.argv[2:]:
        check(folder)
    if "products" in sys.argv[2:]:
        check_products(folder)
    if "time" in sys.argv[2:]:
        time_steps(folder)


if __name__ == "__main__":
    main()
