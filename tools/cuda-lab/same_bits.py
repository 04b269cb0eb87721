"""What the same bits for every number of rows cost: same_bits.py DIR [gpt2|llama ...], with linear_hopper's cubin of compile.py in DIR.

The sum over a weight's columns is cut by the weight's shape alone. Here each product also runs with every other cut, by whichever
kernel is then the fastest: an engine that may choose the cut by the number of rows would have that time.
"""

import sys

import torch

from driver import time_graph
from linear import CONFIGS, SHAPES, Linear, slices


def tokens_of(kind):
    return kind if isinstance(kind, int) else int(kind.split("_")[1])


def times(linear, packed, rows, outputs, columns):
    """Seconds by cut: the fastest kernel of each."""
    x = torch.randn(rows, columns, device="cuda").to(torch.bfloat16)
    out = torch.empty(rows, outputs, device="cuda", dtype=torch.bfloat16)
    best = {}
    for cut in (1, 2, 4, 8):
        if cut * 2 > columns // 64:
            continue
        for kind in CONFIGS:
            if not rows / 64 <= tokens_of(kind) <= max(8, 2 * rows) or (rows > 512 and tokens_of(kind) < 128):
                continue
            taken = time_graph([lambda p=p: linear.run(p, x, out, outputs, kind=kind, cut=cut, pdl=True) for p in packed], 3)
            best[cut] = min(best.get(cut, 1), taken)
    return best


def main():
    linear = Linear(sys.argv[1])
    for model in sys.argv[2:] or ("llama", "gpt2"):
        shapes = [s for s in SHAPES if s[0].startswith(model) and not s[0].endswith("head")]
        packed = {}
        for name, outputs, columns in shapes:
            count = max(2, int(120e6 / (outputs * columns * 2)) + 1)
            packed[name] = [linear.pack(torch.randn(outputs, columns, device="cuda").to(torch.bfloat16)) for _ in range(count)]
        for rows in (1, 64, 256, 512, 8192):
            fixed = free = 0.0
            line = ""
            for name, outputs, columns in shapes:
                best = times(linear, packed[name], rows, outputs, columns)
                mine, cut = best[slices(outputs, columns)], min(best, key=best.get)
                fixed, free = fixed + mine, free + best[cut]
                line += f" | {name.split(' ', 1)[1]} {slices(outputs, columns)}: {mine * 1e6:.1f}, {cut}: {best[cut] * 1e6:.1f}"
            print(f"{model:5s} rows {rows:4d}: fixed {fixed * 1e6:8.1f} us, free {free * 1e6:8.1f} us, {100 * (fixed / free - 1):4.1f} %{line}", flush=True)


if __name__ == "__main__":
    main()
