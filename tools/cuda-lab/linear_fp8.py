"""Checks and times products in FP8 on a Hopper GPU: linear_fp8.py DIR [time], with the cubins of linear_fp8_hopper.cu and
linear_prompt_fp8_hopper.cu in DIR. Beside them PyTorch's own product of FP8 (cuBLAS, one scale for each factor)."""

import sys

import torch

from driver import Module, long, tensor_map, time_graph
from generic import GELU_TANH, activated

KINDS = {8: 10, 16: 9, 32: 8, 64: 6}  # tokens: stages
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16}
MOST_BLOCKS = 200


def slices(outputs, columns):
    """How many parts K is cut into: a function of the weight's shape alone."""
    cut, tiles = 1, columns // 128
    while cut < 8 and cut * 2 * -(-outputs // 64) <= MOST_BLOCKS and cut * 4 <= tiles:
        cut *= 2
    return cut


class Fp8:
    """A weight of random codes, packed: `scaling` says whether tiles have scales of their own, or outputs."""

    def __init__(self, lab, outputs, columns, scaling):
        self.outputs, self.columns = outputs, columns
        self.tiles = columns // 128
        self.codes = (torch.randn(outputs, columns, device="cuda") * 0.3).to(torch.float8_e4m3fn)
        row_tiles = -(-outputs // 64)
        held = row_tiles + row_tiles % 2
        self.tile_scales = torch.ones(held, self.tiles, device="cuda")
        self.output_scales = torch.ones(held * 64, device="cuda")
        if scaling == "tiles":
            self.tile_scales = torch.rand(held, self.tiles, device="cuda") * 0.1 + 0.01
        else:
            self.output_scales = torch.rand(held * 64, device="cuda") * 0.1 + 0.01
        blocks = torch.cat([torch.zeros(outputs, self.tiles, 4, dtype=torch.uint8, device="cuda"),
                            self.codes.view(torch.uint8).view(outputs, self.tiles, 128)], 2).contiguous()
        self.packed = torch.full((held * self.tiles * 8192,), 0x3F, dtype=torch.uint8, device="cuda")
        lab.kernel("pack_fp8")((self.tiles, row_tiles, 1), (256, 1, 1), [blocks, long(self.tiles * 132), self.packed, 0, outputs, columns])

    def numbers(self):
        scales = self.tile_scales.double().repeat_interleave(64, 0).repeat_interleave(128, 1)[: self.outputs]
        return self.codes.double() * scales * self.output_scales.double()[: self.outputs, None]


class Rows:
    """Rows as codes and scales."""

    def __init__(self, lab, x):
        rows, columns = x.shape
        self.rows, self.columns = rows, columns
        self.suffix = "bf16" if x.dtype == torch.bfloat16 else "f16"
        self.stride = -(-rows // 128) * 128
        self.codes = torch.empty(rows, columns, dtype=torch.uint8, device="cuda")
        self.scales = torch.full((columns // 128, self.stride), float("nan"), device="cuda")
        self.quantize(lab, x)

    def quantize(self, lab, x):
        lab.kernel(f"quantize_fp8_{self.suffix}")((self.rows, -(-self.columns // 2048), 1), (256, 1, 1),
                                             [x, long(x.stride(0)), self.columns, self.codes, self.scales, self.stride], 0, None, True)

    def numbers(self):
        return self.codes.view(torch.float8_e4m3fn).double() * self.scales[:, : self.rows].T.double().repeat_interleave(128, 1)


class Lab:
    def __init__(self, folder):
        self.few = Module(f"{folder}/linear_fp8_hopper.sm_90a.cubin")
        self.many = Module(f"{folder}/linear_prompt_fp8_hopper.sm_90a.cubin")
        self.kernels, self.checks, self.wrong = {}, 0, 0

    def kernel(self, name):
        if name not in self.kernels:
            self.kernels[name] = (self.many if "prompt" in name else self.few).kernel(name)
        return self.kernels[name]

    def run(self, weight, rows, out, kind, bias=None, activation=0, scale=1.0, flags=0):
        outputs, columns = weight.outputs, weight.columns
        cut = slices(outputs, columns)
        start = [weight.packed, rows.codes, long(columns), bias, out, long(out.stride(0)), rows.rows, outputs, columns, cut, activation, float(scale),
                 flags | (2 if out.dtype == torch.float32 else 0), rows.scales, rows.stride, weight.tile_scales, weight.output_scales]
        codes = rows.codes.view(torch.int16)
        if kind in ("many", "gated"):
            name = "gated_" if kind == "gated" else "sliced_" if cut > 1 else ""
            stages, results = (6, 16384) if kind == "gated" else (5, 32768)
            of_cluster = 128 if kind == "gated" else 256
            tiles = -(-out.shape[1] // of_cluster) * -(-rows.rows // 128)
            end = [tensor_map(codes, 64), tensor_map(out, 64)] + ([float("inf"), 0.0] if kind == "gated" else [])
            self.kernel(f"linear_prompt_fp8_{name}{rows.suffix}")((min(132, 2 * tiles), 1, 1), (384, 1, 1), start + end,
                                                             stages * (32768 + 512 + 16) + results + 1040, (2, 1, 1), True)
            return
        tiles = -(-outputs // 64) * -(-rows.rows // kind)
        shared = KINDS[kind] * (8192 + kind * 132 + 16) + 1024 + ((kind + 8) * 256 if kind <= 32 else 0)
        self.kernel(f"linear_fp8_{kind}_{rows.suffix}")((tiles * cut, 1, 1), (160, 1, 1), start + [tensor_map(codes, kind)], shared,
                                                   (cut, 1, 1) if cut > 1 else None, True)

    def expect(self, what, actual, exact, limit):
        self.checks += 1
        error = ((actual.double() - exact).norm() / exact.norm()).item()
        if not error <= limit:
            self.wrong += 1
            print(f"WRONG {what}: off by {error:.2e}", flush=True)
        return error

    def same(self, what, actual, expected):
        self.checks += 1
        if not torch.equal(actual.view(torch.uint8), expected.view(torch.uint8)):
            self.wrong += 1
            print(f"WRONG {what}: {(actual != expected).float().mean().item():.4f} of the numbers have other bits", flush=True)


def check(lab):
    worst = 0.0
    for suffix, dtype in TYPES.items():
        for outputs, columns, scaling in ((40, 128, "tiles"), (130, 2816, "outputs"), (64, 256, "tiles"), (320, 1152, "tiles"), (1024, 14336, "outputs"),
                                          (4096, 2048, "tiles"), (28672, 1024, "outputs")):
            weight = Fp8(lab, outputs, columns, scaling)
            x = (torch.randn(700, columns, device="cuda") * torch.logspace(-2, 2, 700, device="cuda")[:, None]).to(dtype)
            x[3] = 0
            rows = Rows(lab, x)
            groups = x.float().view(700, -1, 128)
            scale = groups.abs().amax(2) / torch.tensor(448.0, device="cuda")
            codes = torch.where(scale[:, :, None] == 0, 0, groups / scale[:, :, None]).to(torch.float8_e4m3fn).view(700, columns)
            lab.same(f"codes {suffix} {columns}", rows.codes, codes.view(torch.uint8))
            lab.same(f"scales {suffix} {columns}", rows.scales[:, :700].contiguous(), scale.T.contiguous())
            exact = rows.numbers() @ weight.numbers().T
            what = f"fp8 {suffix} {outputs} {columns}"
            full = torch.full((700, outputs), float("nan"), device="cuda")
            lab.run(weight, rows, full, 8)
            worst = max(worst, lab.expect(what, full, exact, 1e-3))
            narrow = full.to(dtype)
            if outputs % 8 == 0:
                many = torch.full((700, outputs), float("nan"), device="cuda", dtype=dtype)
                lab.run(weight, rows, many, "many")
                lab.same(f"{what} many", many, narrow)
            for kind, count in ((8, 1), (16, 13), (16, 33), (32, 1), (32, 45), (64, 3), (64, 300)):
                part = Rows(lab, x[:count])
                out = torch.full((count, outputs), float("nan"), device="cuda")
                lab.run(weight, part, out, kind)
                lab.same(f"{what} {kind} {count}", out, full[:count])
                if outputs % 8 == 0 and count > 32:
                    out = torch.full((count + 1, outputs), 7.0, device="cuda", dtype=dtype)
                    lab.run(weight, part, out[:count], "many")
                    lab.same(f"{what} many {count}", out[:count], narrow[:count])
                    lab.same(f"{what} many {count}: the row behind", out[count:], torch.full_like(out[count:], 7.0))
            bias, old = torch.randn(outputs, device="cuda"), torch.randn(300, outputs, device="cuda").to(dtype)
            part, first = Rows(lab, x[:300]), None
            for kind in [*KINDS] + (["many"] if outputs % 8 == 0 else []):
                out = old.clone()
                lab.run(weight, part, out, kind, bias, GELU_TANH, 0.5, 1)
                lab.expect(f"{what} {kind} epilogue", out, old.double() + 0.5 * activated(GELU_TANH, exact[:300] + bias.double()), 5e-3 if suffix == "bf16" else 1e-3)
                first = out if first is None else first
                lab.same(f"{what} {kind} epilogue", out, first)
            if outputs % 128 == 0 and slices(outputs, columns) == 1:
                gated = torch.empty(700, outputs // 2, device="cuda", dtype=dtype)
                lab.run(weight, rows, gated, "gated")
                gate, up = narrow.float().split(outputs // 2, 1)
                lab.expect(f"{what} gated", gated, torch.nn.functional.silu(gate.double()) * up.double(), 5e-3 if suffix == "bf16" else 1e-3)
            index = torch.tensor([0, outputs - 1, outputs // 2], dtype=torch.int32, device="cuda")
            table = torch.empty(3, columns, device="cuda", dtype=dtype)
            lab.kernel(f"fp8_rows_{suffix}")((3, -(-columns // 256), 1), (256, 1, 1), [weight.packed, weight.tile_scales, weight.output_scales, columns, index,
                                                                                      1.0, 0, table, long(columns)])
            lab.expect(f"{what} rows", table, weight.numbers()[index.long()], 5e-3)
    torch.cuda.synchronize()
    print(f"linear_fp8: {lab.checks} checks, {lab.wrong} wrong, largest error of sums {worst:.1e}", flush=True)


def measure(lab):
    for outputs, columns in ((28672, 4096), (4096, 14336), (6144, 4096), (4096, 4096)):
        weights = [Fp8(lab, outputs, columns, "outputs") for _ in range(max(2, int(200e6 / (outputs * columns)) + 1))]
        for rows in (1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 8192):
            x = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)
            coded = Rows(lab, x)
            out = torch.empty(rows, outputs, device="cuda", dtype=torch.bfloat16)
            some = weights if rows <= 512 else weights[:3]
            kinds = [k for k in KINDS if rows <= k][:1] + ([64] if 64 < rows <= 256 else []) + (["many"] if rows >= 64 else [])
            line = f"{outputs} x {columns}, {rows} rows:"
            for kind in kinds:
                taken = time_graph([lambda w=w: lab.run(w, coded, out, kind) for w in some], 7)
                rate = f"{outputs * columns / taken / 1e12:4.2f} TB/s" if rows < 64 else f"{2 * rows * outputs * columns / taken / 1e12:5.0f} TFLOP/s"
                line += f" {kind} {taken * 1e6:7.1f} us {rate},"
            if outputs == 28672 and rows >= 128:
                gates = torch.empty(rows, outputs // 2, device="cuda", dtype=torch.bfloat16)
                taken = time_graph([lambda w=w: lab.run(w, coded, gates, "gated") for w in some], 7)
                line += f" gated {taken * 1e6:7.1f} us {2 * rows * outputs * columns / taken / 1e12:5.0f} TFLOP/s,"
            taken = time_graph([lambda: coded.quantize(lab, x)] * 4, 7)
            line += f" quantized in {taken * 1e6:6.1f} us,"
            if rows >= 16:
                one, codes = torch.ones((), device="cuda"), coded.codes.view(torch.float8_e4m3fn)
                taken = time_graph([lambda w=w: torch._scaled_mm(codes, w.codes.t(), one, one, out_dtype=torch.bfloat16, out=out) for w in some], 7)
                line += f" PyTorch {taken * 1e6:7.1f} us {2 * rows * outputs * columns / taken / 1e12:5.0f} TFLOP/s"
            print(line, flush=True)


def main():
    torch.manual_seed(1)
    lab = Lab(sys.argv[1])
    check(lab)
    if "time" in sys.argv:
        measure(lab)
    sys.exit(1 if lab.wrong else 0)


if __name__ == "__main__":
    main()
