"""Checks and times linear_coded.cuh's kernels on a Hopper GPU: linear_coded.py DIR [time], with the cubins of compile.py coded in DIR."""

import sys

import torch

from driver import long, tensor_map, time_graph
from generic import GELU_TANH, LIMITS, Lab, Weight, activated

FORMATS = {  # bits, numbers of a block, bytes of factors of a row of a tile
    "i4_128": (4, 128, 8), "i4_32": (4, 32, 32), "i8_128": (8, 128, 4), "i8_32": (8, 32, 16), "f8_e4m3_128": (8, 128, 4),
    "q8_0": (8, 32, 8), "q4_0": (4, 32, 8), "q4_k": (4, 256, 12), "q5_k": (5, 256, 12), "q6_k": (6, 256, 10),
}
KINDS = {8: (1, 1, 5, 4), 16: (1, 1, 5, 3), 32: (2, 1, 5, 3), 64: (2, 1, 4, 3), "many": (2, 4, 4, 4)}  # groups, producers, stages of small and large tiles


def tile_bytes(name):
    bits, _, factors = FORMATS[name]
    return 64 * (16 * bits + factors)


def slices(outputs, columns):
    """How many parts K is cut into: a function of the weight's shape alone."""
    row_tiles, most, cut = -(-outputs // 64), min(8, -(-columns // 128) // 2), 1
    while cut * 2 <= most and cut * 2 * row_tiles <= 528:
        cut *= 2
    blocks = cut * row_tiles
    uneven = -(-blocks // 132) * 132 / blocks
    return cut * 2 if cut * 2 <= most and blocks >= 132 and uneven > 1.1 else cut


def pack(lab, name, data, outputs, columns):
    """Tiles of rows of blocks, poisoned before."""
    row_tiles, tiles = -(-outputs // 64), -(-columns // 128)
    packed = torch.full(((row_tiles + row_tiles % 2) * tiles * tile_bytes(name),), 0xFF, dtype=torch.uint8, device="cuda")
    row_bytes = (data.numel() - 16) // outputs
    lab.run(f"coded_{name}_hopper", f"pack_codes_{name}", (tiles, row_tiles), 256, [data, long(row_bytes), packed, 0, outputs, columns])
    return packed


def run(lab, name, suffix, packed, x, out, kind, bias=None, activation=0, scale=1.0, flags=0):
    rows, columns = x.shape
    outputs = out.shape[1]
    groups, producers, *stages = KINDS[kind]
    tokens = 128 if kind == "many" else kind
    cut = slices(outputs, columns)
    tiles = -(-outputs // (64 * groups)) * -(-rows // tokens)
    cluster = 1 if kind == "many" else cut
    shared = stages[0 if tile_bytes(name) <= 6144 else 1] * (groups * tile_bytes(name) + tokens * 256 + 16) + 1024 + ((tokens + 8) * 256 * groups if tokens <= 32 else 0)
    kernel = lab.kernels.setdefault((name, kind, suffix), None) or lab.module(f"coded_{name}_hopper").kernel(f"coded_{kind}_{name}_{suffix}")
    lab.kernels[name, kind, suffix] = kernel
    kernel((tiles * cluster, 1, 1), (128 * groups + 32 * producers, 1, 1),
           [packed, x, long(x.stride(0)), bias, out, long(out.stride(0)), rows, outputs, columns, cut, activation, float(scale),
            flags | (2 if out.dtype == torch.float32 else 0), tensor_map(x, tokens)], shared, (cluster, 1, 1) if cluster > 1 else None, True)


def check(lab):
    for name, (_, block, _) in FORMATS.items():
        shapes = ((40, 512), (130, 2816), (320, 1280), (4096, 2048)) + (((64, 128), (320, 1152)) if block < 256 else ())
        for suffix in ("bf16", "f16"):
            for outputs, columns in shapes + (((33, 96), (70, 416)) if block == 32 else ()):
                weight = Weight(lab, columns, [(name.upper(), outputs)])
                packed = pack(lab, name, weight.kept[0], outputs, columns)
                rounded = weight.values.to(torch.bfloat16 if suffix == "bf16" else torch.float16).double()
                inputs = lab.rows(400, columns, suffix, 8 if columns % 8 == 0 else 0, 0.1)
                exact = inputs.double() @ rounded.T
                full = lab.poisoned(400, outputs, "f32")
                run(lab, name, suffix, packed, inputs, full, 8)
                for kind, rows in ((8, 1), (8, 19), (16, 13), (32, 1), (32, 45), (64, 3), (64, 300), ("many", 3), ("many", 257)):
                    out = lab.poisoned(rows, outputs, "f32")
                    run(lab, name, suffix, packed, inputs[:rows], out, kind)
                    what = f"coded {name} {suffix} {outputs} {columns} {kind} {rows}"
                    lab.expect(what, out, exact[:rows], 2e-4)
                    lab.same(what, out, full[:rows])
                bias, old = lab.floats(outputs), lab.rows(70, outputs, suffix)
                for kind in KINDS:
                    out = old.clone()
                    run(lab, name, suffix, packed, inputs[:70], out, kind, bias, GELU_TANH, 0.5, 1)
                    lab.expect(f"coded {name} {suffix} {outputs} {columns} {kind} epilogue", out,
                               old.double() + 0.5 * activated(GELU_TANH, exact[:70] + bias.double()), LIMITS[suffix])
                index = lab.ints([0, outputs - 1, outputs // 2])
                table = lab.poisoned(3, columns, suffix)
                lab.run(f"coded_{name}_hopper", f"coded_rows_{name}_{suffix}", (3, -(-columns // 256)), 256,
                        [packed, columns, outputs, index, 1.0, 0, table, long(table.stride(0))])
                lab.same(f"rows of {name} {suffix} {outputs} {columns}", table, weight.values[index.long()].to(table.dtype))
    torch.cuda.synchronize()
    print(f"linear_coded: {lab.checks} checks, {lab.wrong} wrong", flush=True)


def measure(lab, names, shapes):
    for outputs, columns in shapes:
        for name in names:
            one = Weight(lab, columns, [(name.upper(), 64)])
            data = torch.cat([one.kept[0][:-16].repeat(outputs // 64), one.kept[0][-16:]])
            size = outputs // 64 * columns // 128 * tile_bytes(name)
            weights = [pack(lab, name, data, outputs, columns) for _ in range(max(2, int(200e6 / size) + 1))]
            line = f"{outputs} x {columns} {name:6s}"
            for rows in (1, 8, 16, 32, 64, 128, 256, 512, 2048, 8192):
                kinds = [kind for kind in (8, 16, 32) if rows <= kind][:1] or [kind for kind in (64, "many") if rows <= 512 or kind == "many"]
                x = lab.rows(rows, columns, "bf16", 8)
                out = torch.empty(rows, outputs, device="cuda", dtype=torch.bfloat16)
                some = weights if rows <= 512 else weights[:2]
                for kind in kinds:
                    taken = time_graph([lambda w=w: run(lab, name, "bf16", w, x, out, kind) for w in some], 5)
                    line += f" | {rows} rows by {kind} {taken * 1e6:7.1f} us " + (f"{size / taken / 1e12:4.2f} TB/s" if rows < 64 else f"{2 * rows * outputs * columns / taken / 1e12:4.0f} TF")
            print(line, flush=True)


def main():
    lab = Lab(sys.argv[1])
    lab.kernels = {}
    torch.manual_seed(1)
    check(lab)
    if "time" in sys.argv:
        measure(lab, [name for name in FORMATS if name in sys.argv] or FORMATS, ((28672, 4096), (4096, 14336), (6144, 4096), (4096, 4096)))
    sys.exit(1 if lab.wrong else 0)


if __name__ == "__main__":
    main()
