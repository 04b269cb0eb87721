"""Checks and times linear_mma.cuh's kernels: linear_mma.py DIR [chosen] [time] on a GPU, linear_mma.py emulate on the CPU."""

import sys

import torch

from driver import long, time_graph
from generic import GELU_TANH, LIMITS, Lab, Weight, activated, quants

STRIDES = {"plain": 128, "q8_0": 160, "q4_0": 160, "q4_k": 160, "q5_k": 224, "q6_k": 224, "iq4_xs": 160, "mxfp4": 160, "f8_e4m3_128": 160,
           "i8_128": 160, "i8_32": 160, "i4_128": 160, "i4_32": 224}
SOURCES = {"bf16": "BF16", "f16": "F16"}


def run(lab, name, suffix, weight, x, out, kind, bias=None, activation=0, scale=1.0, flags=0):
    rows, columns = x.shape
    outputs = out.shape[1]
    data = weight.kept[0]
    row_bytes = (data.numel() - 16) // outputs
    stages = (4 if name == "plain" else 3, 3 if name == "plain" else 2)
    if kind == "many":
        grid, block, shared = (-(-outputs // 128), -(-rows // 64)), 128, stages[1] * 128 * STRIDES[name] + 24576
    else:
        grid, block, shared = (-(-outputs // 16), -(-rows // kind)), 256, 8 * stages[0] * 16 * STRIDES[name]
    entry = f"linear_many_{name}_{suffix}" if kind == "many" else f"linear_few_{kind}_{name}_{suffix}"
    lab.run(f"linear_{name}", entry, grid, block,
            [data, long(row_bytes), x, long(x.stride(0)), bias, out, long(out.stride(0)), rows, outputs, columns, activation, float(scale),
             flags | (2 if out.dtype == torch.float32 else 0)], shared)


def check(lab):
    for name in STRIDES if quants else ("plain", *(each for each in STRIDES if each[:2] in ("f8", "i8", "i4"))):
        for suffix in SOURCES:
            source = SOURCES[suffix] if name == "plain" else name.upper()
            for outputs, columns in ((40, 512), (130, 2816), (17, 256)) + (((33, 96),) if name in ("plain", "q8_0", "q4_0", "mxfp4", "i8_32", "i4_32") else ()):
                weight = Weight(lab, columns, [(source, outputs)])
                rounded = weight.values.to(torch.bfloat16 if suffix == "bf16" else torch.float16).double()
                inputs = lab.rows(70, columns, suffix, 8, 0.1)
                exact = inputs.double() @ rounded.T
                first = None
                for kind, rows in ((8, 1), (8, 19), (32, 1), (32, 45), ("many", 3), ("many", 70)):
                    x = inputs[:rows]
                    out = lab.poisoned(rows, outputs, "f32")
                    run(lab, name, suffix, weight, x, out, kind)
                    lab.expect(f"{name} {suffix} {outputs} {columns} {kind} {rows}", out, exact[:rows], 2e-4)
                    first = out if first is None else first
                    lab.same(f"{name} {suffix} {outputs} {columns} {kind} {rows}", out[:1], first[:1])
                bias, old = lab.floats(outputs), lab.rows(70, outputs, suffix)
                for kind in (8, "many"):
                    out = old.clone()
                    run(lab, name, suffix, weight, inputs, out, kind, bias, GELU_TANH, 0.5, 1)
                    lab.expect(f"{name} {suffix} epilogue", out, old.double() + 0.5 * activated(GELU_TANH, exact + bias.double()), LIMITS[suffix])
    print(f"linear_mma: {lab.checks} checks, {lab.wrong} wrong", flush=True)


def choices_of(lab, chosen, experts, tokens):
    """What group_choices makes of the chosen experts, checked."""
    choices = chosen.numel()
    most = min(choices, choices // tokens + experts)
    order, tiles = lab.ints([-1] * choices), lab.ints([-1] * 4 * most)
    lab.run("generic_experts", "group_choices", (1,), 1024, [chosen, choices, experts, tokens, order, tiles, most], 8 * experts)
    seen = []
    for expert, first, count, _ in tiles.view(-1, 4).tolist():
        mine = order[first : first + count].tolist()
        lab.checks += 1
        if count > tokens or any(chosen.view(-1)[c] != expert for c in mine):
            lab.wrong += 1
            print("WRONG tile", expert, first, count, mine, flush=True)
        seen += mine
    lab.checks += 1
    if sorted(seen) != list(range(choices)):
        lab.wrong += 1
        print("WRONG choices", sorted(seen), flush=True)
    return order, tiles, most


def run_grouped(lab, name, suffix, data, row_bytes, x, out, groups, kind, share, bias, flags=0):
    order, tiles, most = groups
    outputs = bias.shape[1]
    stages = (4 if name == "plain" else 3, 3 if name == "plain" else 2)
    if kind == "many":
        grid, block, shared = (most, -(-outputs // 128)), 128, stages[1] * 128 * STRIDES[name] + 24576
    else:
        grid, block, shared = (most, -(-outputs // 16)), 256, 8 * stages[0] * 16 * STRIDES[name]
    entry = f"grouped_many_{name}_{suffix}" if kind == "many" else f"grouped_few_{kind}_{name}_{suffix}"
    lab.run(f"grouped_{name}", entry, grid, block,
            [data, long(row_bytes), x, long(x.stride(0)), bias, out, long(out.stride(0)), 0, outputs, x.shape[1], 0, 1.0,
             flags | (2 if out.dtype == torch.float32 else 0), order, tiles, share], shared)


def check_grouped(lab):
    """Each choice has the bits that the same matrix gives its row alone, by the kernels for one matrix."""
    experts = 6
    for name in STRIDES if not lab.emulates else ("plain", "q8_0", "mxfp4", "f8_e4m3_128"):
        for suffix in SOURCES if not lab.emulates else ("bf16",):
            source = SOURCES[suffix] if name == "plain" else name.upper()
            for outputs, columns in ((40, 512), (130, 256)):
                weight = Weight(lab, columns, [(source, experts * outputs)])
                data = weight.kept[0]
                row_bytes = (data.numel() - 16) // (experts * outputs)
                bias = lab.floats(experts * outputs).view(experts, outputs)
                for rows, kind in ((1, 8), (9, 8), (20, 32), (90, "many")):
                    chosen = torch.stack([torch.randperm(experts - 1)[:2] for _ in range(rows)]).int().to(lab.device)  # nobody takes the last
                    groups = choices_of(lab, chosen, experts, 64 if kind == "many" else kind)
                    for share in (2, 1):
                        x = lab.rows(rows * 2 // share, columns, suffix, 8, 0.1)
                        out = lab.poisoned(rows * 2, outputs, "f32")
                        run_grouped(lab, name, suffix, data, row_bytes, x, out, groups, kind, share, bias)
                        for choice in range(0, 2 * rows, 1 if rows < 10 else 7):
                            e = int(chosen.view(-1)[choice])
                            one = lab.poisoned(1, outputs, "f32")
                            alone = Weight.__new__(Weight)
                            alone.kept = [data[e * outputs * row_bytes : (e + 1) * outputs * row_bytes + 16]]
                            run(lab, name, suffix, alone, x[choice // share : choice // share + 1], one, 8, bias[e])
                            lab.same(f"grouped {name} {suffix} {outputs} {columns} {kind} {rows} {share} {choice}", out[choice : choice + 1], one)
    print(f"grouped: {lab.checks} checks, {lab.wrong} wrong", flush=True)


def run_chosen(lab, suffix, first, second, x, picks, factors, inner, out, sets, shared=None, kinds=("gated", "combined")):
    """All experts of few rows: products with gates, and sums; `inner` has gates and ups of each choice, its gates are written."""
    (rows, width), chosen, size = x.shape, picks.shape[1], inner.shape[1] // 2
    ring = 196608 if sets == 4 else 98304
    if "gated" in kinds:
        lab.run("chosen_experts", f"experts_gated_{sets}_{suffix}", (-(-size // 8) * rows,), 256 * sets,
                [first, x, long(x.stride(0)), picks, chosen, rows, size, width, 1, 2.0, 0.5, inner, long(inner.stride(0))],
                ring + -(-2 * width // 16) * 16 + 512 * chosen)
    if "combined" in kinds:
        beside = [shared[0], long(shared[0].stride(0)), shared[1], long(shared[1].stride(0))] if shared else [None, long(0), None, long(0)]
        lab.run("chosen_experts", f"experts_combined_{sets}_{suffix}", (-(-width // 16) * rows,), 256 * sets,
                [second, inner, long(inner.stride(0)), picks, factors, chosen, rows, width, size, 0.75, 1, *beside, out, long(out.stride(0))],
                ring + -(-2 * size * chosen // 16) * 16 + 580 * chosen)


def check_chosen(lab):
    """All experts of few rows at once have the bits of grouped products, gates, and their sum, one after the other."""
    for suffix in SOURCES:
        for experts, chosen, rows, width, size in ((12, 2, 1, 512, 64), (9, 3, 2, 416, 32), (40, 5, 2, 96, 160), (16, 4, 1, 704, 704)):
            first = Weight(lab, width, [(SOURCES[suffix], experts * 2 * size)])
            second = Weight(lab, size, [(SOURCES[suffix], experts * width)])
            picks = torch.stack([torch.randperm(experts)[:chosen] for _ in range(rows)]).int().to(lab.device)
            groups = choices_of(lab, picks, experts, 8)
            x, old = lab.rows(rows, width, suffix, 8, 0.1), lab.rows(rows, width, suffix)
            factors = lab.floats(rows * chosen)
            both, products, expected = lab.poisoned(rows * chosen, 2 * size, suffix, 8), lab.poisoned(rows * chosen, width, suffix), old.clone()
            run_grouped(lab, "plain", suffix, first.kept[0], 2 * width, x, both, groups, 8, chosen, torch.zeros(experts, 2 * size, device=lab.device))
            gates, ups = both[:, :size], both[:, size:]
            lab.run("generic_rows", f"gated_{suffix}", (rows * chosen, -(-size // 256)), 256,
                    [gates, long(gates.stride(0)), ups, long(ups.stride(0)), 1, 2.0, 2.0, 0.5, gates, long(gates.stride(0)), size])
            run_grouped(lab, "plain", suffix, second.kept[0], 2 * size, gates, products, groups, 8, 1, torch.zeros(experts, width, device=lab.device))
            lab.run("generic_rows", f"combine_experts_{suffix}", (rows, -(-width // 256)), 256,
                    [products, long(products.stride(0)), factors, chosen, 0.75, 1, expected, long(expected.stride(0)), width])
            shared, gate = lab.rows(rows, width, suffix), lab.rows(rows, 1, suffix)
            lab.run("generic_rows", f"add_gated_{suffix}", (rows, -(-width // 256)), 256,
                    [shared, long(shared.stride(0)), gate, long(gate.stride(0)), 0.75, expected, long(expected.stride(0)), width])
            for sets in (2, 4):
                inner, out = lab.poisoned(rows * chosen, 2 * size, suffix, 8), old.clone()
                run_chosen(lab, suffix, first.kept[0], second.kept[0], x, picks, factors, inner, out, sets, (shared, gate))
                lab.same(f"gated experts {suffix} {width} {size} {sets}", inner[:, :size], gates)
                lab.same(f"combined experts {suffix} {width} {size} {sets}", out, expected)
    print(f"chosen: {lab.checks} checks, {lab.wrong} wrong", flush=True)


def measure_grouped(lab):
    """Mixtral's and a finer model's experts: 8 of 14,336 (2 chosen) and 128 of 768 (8 chosen), columns 4,096 and 2,048."""
    for experts, chosen, outputs, columns in ((8, 2, 28672, 4096), (128, 8, 1536, 2048)):
        for name in ("plain", "q8_0", "mxfp4", "f8_e4m3_128"):
            one = Weight(lab, columns, [("BF16" if name == "plain" else name.upper(), 64)])
            row_bytes = (one.kept[0].numel() - 16) // 64
            data = torch.cat([one.kept[0][:-16].repeat(experts * outputs // 64), one.kept[0][-16:]])
            bias = torch.zeros(experts, outputs, device=lab.device)
            line = f"{experts} x {outputs} x {columns} {name:6s}"
            for rows in (1, 8, 64, 512, 4096):
                picks = torch.stack([torch.randperm(experts)[:chosen] for _ in range(rows)]).int().to(lab.device)
                average = rows * chosen // experts
                kind = 8 if average <= 8 else 32 if average <= 32 else "many"
                groups = choices_of(lab, picks, experts, 64 if kind == "many" else kind)
                x = lab.rows(rows, columns, "bf16", 8)
                out = torch.empty(rows * chosen, outputs, device="cuda", dtype=torch.bfloat16)
                taken = time_graph([lambda: run_grouped(lab, name, "bf16", data, row_bytes, x, out, groups, kind, chosen, bias)] * 2, 3)
                line += f" | {rows} rows {taken * 1e6:8.1f} us"
            print(line, flush=True)


def measure_chosen(lab):
    """Experts of Qwen3.6-35B-A3B, without and with the shared one, Gemma-4-26B-A4B and Qwen3-30B-A3B; rows before chose others of them."""
    for experts, chosen, width, size in ((256, 8, 2048, 512), (257, 9, 2048, 512), (128, 8, 2816, 704), (128, 8, 2048, 768)):
        first = torch.randn(experts * 2 * size, width, device=lab.device).to(torch.bfloat16)
        second = torch.randn(experts * width, size, device=lab.device).to(torch.bfloat16)
        line = f"{experts} x {width} x {size}"
        for rows in (1, 2, 4):
            x, out = lab.rows(rows, width, "bf16", 8), torch.zeros(rows, width, device=lab.device, dtype=torch.bfloat16)
            inner = torch.zeros(rows * chosen, 2 * size, device=lab.device, dtype=torch.bfloat16)
            factors = torch.rand(rows * chosen, device=lab.device)
            picks = [torch.stack([torch.randperm(experts)[:chosen] for _ in range(rows)]).int().to(lab.device) for _ in range(40)]
            for kinds in (("gated",), ("combined",)):
                for sets in (2, 4):
                    taken = time_graph([lambda p=p: run_chosen(lab, "bf16", first, second, x, p, factors, inner, out, sets, None, kinds) for p in picks], 3)
                    size_read = rows * chosen * width * size * 2 * (2 if "gated" in kinds else 1)
                    line += f" | {rows} rows, {kinds[0]}, {sets} sets {taken * 1e6:6.1f} us {size_read / taken / 1e12:4.2f} TB/s"
        print(line, flush=True)


def measure(lab):
    for outputs, columns in ((4096, 4096), (28672, 4096), (4096, 14336)):
        for name in STRIDES:
            one = Weight(lab, columns, [("BF16" if name == "plain" else name.upper(), 64)])
            row_bytes = (one.kept[0].numel() - 16) // 64
            size = outputs * row_bytes
            count = max(2, int(200e6 / size) + 1)
            weights = []
            for _ in range(count):
                w = Weight.__new__(Weight)
                w.kept = [torch.cat([one.kept[0][:-16].repeat(outputs // 64), one.kept[0][-16:]])]
                weights.append(w)
            line = f"{outputs} x {columns} {name:6s}"
            for rows, kind in ((1, 8), (8, 8), (32, 32), (64, "many"), (512, "many")):
                x = lab.rows(rows, columns, "bf16", 8)
                out = torch.empty(rows, outputs, device="cuda", dtype=torch.bfloat16)
                taken = time_graph([lambda w=w: run(lab, name, "bf16", w, x, out, kind) for w in weights], 3)
                line += f" | {rows} rows {taken * 1e6:7.1f} us " + (f"{size / taken / 1e12:4.2f} TB/s" if rows < 64 else f"{2 * rows * outputs * columns / taken / 1e12:4.0f} TF")
            print(line, flush=True)


def main():
    lab = Lab(sys.argv[1])
    torch.manual_seed(1)
    check_chosen(lab)
    if "chosen" not in sys.argv:
        check(lab)
        check_grouped(lab)
    if "time" in sys.argv:
        if "chosen" not in sys.argv:
            measure(lab)
            measure_grouped(lab)
        measure_chosen(lab)
    sys.exit(1 if lab.wrong else 0)


if __name__ == "__main__":
    main()
