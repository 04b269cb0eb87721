"""Checks and times attention to keys and values in codes: attention_codes.py DIR [check|time], with compile.py's cubins in DIR.

attention_codes.py emulate check runs the kernels of sm_80 on the CPU, with shorter contexts. Of DIR's cubins it wants attention_fp8,
attention_int8, attention_int4 and, to time 16 bits beside them, attention_decode and attention_decode_warp.
"""

import sys

import torch

from attention import DEVICE, HALVES, NAMES, PAGE, Batch, Kernels
from driver import Module, time_graph

MOST = {"fp8": 448.0, "int8": 127.0, "int4": 15.0}


def coded(kind, x):
    """Codes and scales [..., bytes], [..., scales] of x [..., size], and the numbers that they stand for (KvType.java)."""
    x = x.float()
    most, least = x.amax(-1, keepdim=True), x.amin(-1, keepdim=True)
    if kind == "int4":
        scale = (most - least) / 15
        codes = torch.where(scale > 0, (x - least) / scale, 0).round().clamp(0, 15)
        read = codes.double() * scale.double() + least.double()
        half = (x.shape[-1] + 1) // 2
        high = torch.nn.functional.pad(codes[..., half:], (0, half * 2 - x.shape[-1]))
        return (codes[..., :half] + 16 * high).to(torch.uint8), torch.cat([scale, least], -1), read
    scale = torch.maximum(most, -least) / MOST[kind]
    quotient = torch.where(scale > 0, x / scale, 0)
    codes = quotient.to(torch.float8_e4m3fn) if kind == "fp8" else quotient.round().clamp(-127, 127).to(torch.int8)
    return codes.view(torch.uint8), scale, codes.double() * scale.double()


class CodedBatch(Batch):
    """A batch whose pages have codes of the keys and values that Batch made up."""

    def __init__(self, kind, *arguments, fill=True, **named):
        super().__init__(*arguments, fill=fill, **named)
        self.kind = kind
        pages = self.cache.shape[0]
        codes, scales, read = coded(kind, self.cache)
        garbage = torch.isnan(scales)
        scales = torch.where(garbage, 7e37, scales)  # of positions that nobody wrote
        self.cache = torch.cat([codes.reshape(pages, -1), scales.contiguous().view(torch.uint8).reshape(pages, -1)], 1).contiguous()
        self.page_elements = self.cache.shape[1]
        if fill:
            self.keys = [coded(kind, k)[2] for k in self.keys]
            self.values = [coded(kind, v)[2] for v in self.values]

    def stage_bytes(self):
        return 128 * (self.size // 2 + 8 if self.kind == "int4" else self.size + 4)


class CodedKernels(Kernels):
    def __init__(self, folder):
        self.emulates = folder == "emulate"
        self.modules, self.kernels, self.wrong = {}, {}, 0
        for kind in MOST:
            if self.emulates:
                import emulator
                self.modules[kind] = emulator.Module(f"attention_{kind}.cu")
            else:
                self.modules[kind] = Module(f"{folder}/attention_{kind}.sm_90a.cubin")

    def coded_kernel(self, what, batch):
        name = f"attention_{what}_{batch.kind}_{batch.size}_{NAMES[batch.dtype]}"
        if name not in self.kernels:
            self.kernels[name] = self.modules[batch.kind].kernel(name)
        return self.kernels[name]

    def decode(self, batch, out, parts, pdl=False, cluster=False):
        stages = 2 if batch.size == 256 else 3
        shared = 256 * (batch.size + 8) + stages * batch.stage_bytes() + 32 * batch.size + 2560
        self.coded_kernel("decode", batch)(
            (parts, batch.key_heads * ((batch.group + 15) // 16), batch.rows), (128, 1, 1),
            batch.arguments(out) + [batch.sequence_of, batch.context_length, batch.partials, batch.first_entry, batch.counters],
            shared, (parts, 1, 1) if cluster and parts > 1 else None, pdl)

    def prefill(self, batch, out, pdl=False):
        shared = (128 // HALVES[batch.size] + 128) * 2 * (batch.size + 8) + 2 * batch.stage_bytes()
        self.coded_kernel("prefill", batch)(
            (batch.tiles.shape[0], batch.key_heads, 1), (256, 1, 1),
            batch.arguments(out) + [batch.tiles, batch.row_start], shared, None, pdl)

    def races(self):
        return sum(module.races() for module in self.modules.values()) if self.emulates else 0


def check(kernels):
    torch.manual_seed(2)
    worst = {}
    cases = [
        dict(key_heads=2, group=4, size=64), dict(key_heads=2, group=4, size=128), dict(key_heads=3, group=2, size=80),
        dict(key_heads=2, group=3, size=96, sinks=True), dict(key_heads=1, group=2, size=256), dict(key_heads=1, group=20, size=128),
        dict(key_heads=1, group=1, size=128, cap=30.0), dict(key_heads=1, group=3, size=64, window=37),
    ]
    contexts, rows = ([1, 64, 65, 300], [1, 3, 20, 2]) if kernels.emulates else ([1, 64, 65, 300, 517, 1030], [1, 3, 65, 40, 1, 300])
    for kind in MOST:
        for dtype in (torch.bfloat16, torch.float16):
            for case in cases:
                batch = CodedBatch(kind, contexts, rows, dtype=dtype, **case)
                exact = batch.exact()
                first = None
                for run in ("prefill", 1, 2, 3, 2) if kernels.emulates else ("prefill", 1, 2, 3, 5, 16, "cluster 2", "cluster 8"):
                    out = torch.full(exact.shape, float("nan"), device=DEVICE, dtype=dtype)
                    if run == "prefill":
                        kernels.prefill(batch, out)
                    else:
                        kernels.decode(batch, out, int(str(run).split()[-1]), cluster="cluster" in str(run))
                    if DEVICE == "cuda":
                        torch.cuda.synchronize()
                    error = ((out.double() - exact).abs().amax() / exact.abs().amax()).item()
                    worst[kind, NAMES[dtype]] = max(worst.get((kind, NAMES[dtype]), 0), error)
                    if not error < (0.02 if dtype == torch.bfloat16 else 0.003):
                        kernels.fails("wrong", kind, dtype, case, run, error)
                    if first is None:
                        first = out
                    elif not torch.equal(first.view(torch.int16), out.view(torch.int16)):
                        kernels.fails("other bits", kind, dtype, case, run)
    print("largest errors", worst, "wrong", kernels.wrong, "races", kernels.races(), flush=True)


def time(kernels, plain):
    """A layer's attention of a decode step in Llama 8B's shape: 16 bits, then codes, by context and rows."""
    for rows in (1, 8, 32):
        for context in (1024, 4096, 8192, 16384, 32768):
            if rows * context > 32 * 8192:
                continue
            line = f"rows {rows:3d} context {context:6d}:"
            for kind in ("bf16", *MOST):
                shape = dict(key_heads=8, group=4, size=128, dtype=torch.bfloat16, fill=False)
                copies = max(1, min(8, int(200e6 / (rows * context * 4096)) + 1))  # more than the L2 cache holds
                batches = [
                    Batch([context] * rows, [1] * rows, **shape) if kind == "bf16" else CodedBatch(kind, [context] * rows, [1] * rows, **shape)
                    for _ in range(copies)
                ]
                out = torch.empty(rows, 32 * 128, device=DEVICE, dtype=torch.bfloat16)
                pairs = rows * 8
                parts = 1 if pairs >= 100 else min(8, max(1, 200 // pairs))
                run = (plain if kind == "bf16" else kernels).decode
                taken = time_graph([lambda b=b: run(b, out, parts, True, True) for b in batches], 3)
                line += f"  {kind} {taken * 1e6:8.1f} us"
                del batches
            print(line, flush=True)


if __name__ == "__main__":
    folder = sys.argv[1]
    kernels = CodedKernels(folder)
    for what in sys.argv[2:] or ("check",):
        if what == "check":
            check(kernels)
        else:
            time(kernels, Kernels(folder))
    sys.exit(kernels.wrong > 0 or kernels.races() > 0)
