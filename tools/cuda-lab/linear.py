"""Checks and times the linear kernels on a GPU: linear.py DIR [check|few|gates|many|small ...], with the cubins of compile.py in DIR."""

import ctypes
import pathlib
import sys

import torch

from driver import Module, long, tensor_map, time_graph

CONFIGS = {  # tokens: (groups, producers, stages)
    8: (1, 1, 11),
    16: (1, 1, 10),
    32: (1, 2, 8),
    64: (1, 4, 6),
    128: (2, 4, 6),
    256: (2, 4, 4),
    "serial_32": (1, 2, 4),
    "serial_64": (1, 4, 6),
    "serial_128": (2, 4, 6),
    "serial_192": (2, 4, 5),
    "wide_64": (2, 4, 4),
    "deep_64": (1, 4, 12),
}
PROMPT = {"prompt_128": (128, 6), "prompt_192": (192, 4), "prompt_256": (256, 3)}  # tokens, stages; the last for one slice
GATED_CONFIGS = {8: (1, 6), 16: (1, 6), 32: (2, 5), 64: (4, 4)}  # tokens: (producers, stages)
PROMPT_RATES = {"prompt_128": 0.9, "prompt_192": 0.97, "prompt_256": 1.0}
MULTIPROCESSORS = 132
NORM_ROWS = 4
NORM_COLUMNS = 1024
NAMES = {torch.bfloat16: "bf16", torch.float16: "f16"}


def slices(outputs, columns):
    """How many parts K is cut into: a function of the weight's shape alone, the most that keep to about 200 blocks."""
    row_tiles = -(-outputs // 64)
    tiles = -(-columns // 64)
    most = 132 if tiles <= 16 else 200
    cut = 1
    while cut < 8 and cut * 2 * row_tiles <= most and cut * 4 <= tiles:
        cut *= 2
    return cut


class Linear:
    def __init__(self, folder):
        self.folder = folder
        self.module = Module(f"{folder}/linear_hopper.sm_90a.cubin")
        self.pack_kernel = self.module.kernel("pack_weight")
        self.kernels = {}
        prompt = pathlib.Path(folder) / "linear_prompt_hopper.sm_90a.cubin"
        self.prompt_module = Module(prompt) if prompt.exists() else None

    def pack(self, weight):
        outputs, columns = weight.shape
        tiles = (-(-outputs // 64), -(-columns // 64))
        packed = torch.empty(tiles[0] * tiles[1] * 4096, dtype=weight.dtype, device="cuda")
        # The groups of a block may read tiles past the end: they lie in the padding that PyTorch's allocator leaves, or here.
        padded = torch.zeros(packed.numel() + 4096 * tiles[1], dtype=weight.dtype, device="cuda")
        self.pack_kernel((tiles[1], tiles[0], 1), (256, 1, 1), [weight, long(weight.stride(0)), padded, 0, outputs, columns])
        return padded

    def run(self, packed, x, out, outputs, bias=None, activation=0, scale=1.0, flags=0, kind=None, cut=None, pdl=False):
        rows, columns = x.shape
        cut = cut or slices(outputs, columns)
        kind = kind or self.choose(rows, outputs, columns, cut)
        if kind in PROMPT:
            self.run_prompt(packed, x, out, outputs, bias, activation, scale, flags, kind, cut, pdl)
            return
        groups, producers, stages = CONFIGS[kind]
        serial = str(kind).startswith("serial")
        tokens = int(kind.split("_")[1]) if isinstance(kind, str) else kind
        key = (kind, x.dtype)
        if key not in self.kernels:
            self.kernels[key] = self.module.kernel(f"linear_{kind}_{NAMES[x.dtype]}")
        row_tiles = -(-outputs // (64 * groups))
        token_tiles = -(-rows // tokens)
        inbox = (tokens + 8) * 256 * groups if tokens <= 32 else 0
        shared = stages * (groups * 8192 + tokens * 128) + inbox + stages * 16 + 1024
        grid = (row_tiles * token_tiles * (1 if serial else cut), 1, 1)
        cluster = (cut, 1, 1) if not serial and cut > 1 else None
        self.kernels[key](
            grid,
            (128 * groups + 32 * producers, 1, 1),
            [packed, x, long(x.stride(0)), bias, out, long(out.stride(0)), rows, outputs, columns, cut, activation,
             float(scale), flags | (2 if out.dtype == torch.float32 else 0)],
            shared, cluster, pdl)

    def run_prompt(self, packed, x, out, outputs, bias, activation, scale, flags, kind, cut, pdl):
        rows, columns = x.shape
        tokens, stages = PROMPT[kind]
        key = (kind, x.dtype)
        if key not in self.kernels:
            self.kernels[key] = self.prompt_module.kernel(f"linear_{kind}_{NAMES[x.dtype]}")
        tiles = -(-outputs // (256)) * -(-rows // tokens)
        shared = stages * (16384 + tokens * 128 + 16) + tokens * 256 + 1040
        blocks = min(MULTIPROCESSORS, 2 * tiles)
        self.kernels[key](
            (blocks, 1, 1), (384, 1, 1),
            [packed, x, long(x.stride(0)), bias, out, long(out.stride(0)), rows, outputs, columns, cut, activation,
             float(scale), flags, tensor_map(x, tokens // 2), tensor_map(out, tokens)],
            shared, (2, 1, 1), pdl)

    def run_gated(self, packed, x, out, inner, tokens, bias=None, scale=1.0, limit=float("inf"), up_offset=0.0, pdl=False):
        """The product with the rows of gates and, after them, of ups, and silu(gate) * up of what it would store."""
        rows, columns = x.shape
        key = ("gated", tokens, x.dtype)
        if key not in self.kernels:
            self.kernels[key] = self.prompt_module.kernel(f"linear_prompt_gated_{tokens}_{NAMES[x.dtype]}")
        stages = 4 if tokens == 256 else 6
        tiles = -(-inner // 128) * -(-rows // tokens)
        self.kernels[key](
            (min(MULTIPROCESSORS, 2 * tiles), 1, 1), (384, 1, 1),
            [packed, x, long(x.stride(0)), bias, out, long(out.stride(0)), rows, 2 * inner, columns, 1, 0, float(scale), 0,
             float(limit), float(up_offset), tensor_map(x, tokens // 2), tensor_map(out, tokens, 32)],
            stages * (16384 + tokens * 128 + 16) + tokens * 128 + 1040, (2, 1, 1), pdl)

    def run_gated_few(self, packed, x, out, inner, tokens, bias=None, scale=1.0, limit=float("inf"), up_offset=0.0, pdl=False):
        """run_gated of linear_hopper's kernels, of 8, 16, 32 or 64 tokens."""
        rows, columns = x.shape
        key = ("gated_few", tokens, x.dtype)
        if key not in self.kernels:
            self.kernels[key] = self.module.kernel(f"linear_gated_{tokens}_{NAMES[x.dtype]}")
        producers, stages = GATED_CONFIGS[tokens]
        self.kernels[key](
            (inner // 64 * -(-rows // tokens), 1, 1), (256 + 32 * producers, 1, 1),
            [packed, x, long(x.stride(0)), bias, out, long(out.stride(0)), rows, 2 * inner, columns, 1, 0, float(scale), 0,
             float(limit), float(up_offset)],
            stages * (16384 + tokens * 128 + 16) + 1024, None, pdl)

    def run_normed(self, packed, x, norm, out, outputs, bias=None, activation=0, scale=1.0, flags=0, cut=None, pdl=False):
        """Normalises up to 8 rows of up to 1,024 columns, then multiplies."""
        rows, columns = x.shape
        cut = cut or slices(outputs, columns)
        key = ("normed", x.dtype)
        if key not in self.kernels:
            self.kernels[key] = self.module.kernel(f"linear_normed_8_{NAMES[x.dtype]}")
        self.kernels[key](
            (-(-outputs // 64) * cut, 1, 1), (160, 1, 1),
            [packed, x, long(x.stride(0)), bias, out, long(out.stride(0)), rows, outputs, columns, cut, activation,
             float(scale), flags | (2 if out.dtype == torch.float32 else 0), norm],
            11 * 8208 + 16 * 1024 + 5120, (cut, 1, 1) if cut > 1 else None, pdl)

    @staticmethod
    def choose_prompt(rows, outputs, columns):
        """The prompt's kernel that takes the least time for so many rows."""
        kinds = [kind for kind in PROMPT if kind != "prompt_256" or slices(outputs, columns) == 1]
        clusters = MULTIPROCESSORS // 2

        def time(kind):
            tokens = PROMPT[kind][0]
            return -(-(-(-outputs // 256) * -(-rows // tokens)) // clusters) * tokens / PROMPT_RATES[kind]

        return min(kinds, key=time)

    @staticmethod
    def choose(rows, outputs, columns, cut):
        """The fastest kernel measured on an H200; none changes a bit of the result."""
        row_tiles = -(-outputs // 64)
        short = columns <= 1024
        if rows <= 16:
            return 8 if rows <= 8 else 16
        wide = cut == 1 and row_tiles >= 400
        if rows <= 32:
            return 64 if short and cut <= 4 else 32
        if wide and (rows <= 64 or short):
            return "wide_64"
        if rows <= 64:
            return "deep_64" if -(-columns // 64) >= 16 * cut and cut * row_tiles <= 132 else 64
        if rows <= 128:
            if short and cut <= 2 and 4 * row_tiles <= 264:
                return "serial_32"
            return 64 if 2 * cut * row_tiles <= 264 else 128
        if rows <= 256 and cut > 1 and 100 <= row_tiles * -(-rows // 64) <= 200:
            return "serial_64"
        if -(-outputs // 128) * cut * -(-rows // 128) <= 132:
            return 128
        if cut == 1:
            return "serial_128" if rows <= 1024 else 256
        return "serial_128" if rows <= 1024 else "serial_192"


def check(linear):
    torch.manual_seed(1)
    worst = 0
    for dtype in (torch.bfloat16, torch.float16):
        for outputs, columns in ((64, 64), (100, 72), (768, 768), (2304, 768), (300, 1000), (768, 3072), (4096, 4096), (12900, 520), (257, 8)):
            weight = torch.randn(outputs, columns, device="cuda").to(dtype)
            packed = linear.pack(weight)
            bias = torch.randn(outputs, device="cuda")
            all_x = torch.randn(700, columns + 8, device="cuda").to(dtype)[:, :columns]
            old = torch.randn(700, outputs, device="cuda").to(dtype)
            exact = all_x.double() @ weight.double().T
            first = None
            for rows, kind in ((1, 8), (1, 64), (7, 8), (13, 16), (32, 32), (64, 64), (65, 64), (65, "wide_64"), (64, "deep_64"), (100, 128), (300, 256), (700, 128),
                               (1, "serial_128"), (100, "serial_64"), (128, "serial_32"), (500, "serial_128"), (700, "serial_192"), (700, None)):
                for variant in range(3):
                    x = all_x[:rows]
                    if variant == 0:
                        out = torch.full((rows, outputs + 4), float("nan"), device="cuda", dtype=torch.float32)[:, :outputs]
                        linear.run(packed, x, out, outputs, kind=kind)
                        expected = exact[:rows]
                        if first is None:
                            first = out.clone()
                            full = torch.empty(700, outputs, device="cuda")
                            linear.run(packed, all_x, full, outputs, kind=64)
                        same = torch.equal(out, full[:rows])
                        if not same:
                            print("BITS DIFFER", dtype, outputs, columns, rows, kind, (out - full[:rows]).abs().max().item())
                    elif variant == 1:
                        out = torch.full((rows, outputs), float("nan"), device="cuda", dtype=dtype)
                        linear.run(packed, x, out, outputs, bias=bias, activation=3, kind=kind)
                        expected = torch.nn.functional.gelu(exact[:rows] + bias.double(), approximate="tanh")
                    else:
                        out = old[:rows].clone()
                        linear.run(packed, x, out, outputs, bias=bias, scale=0.5, flags=1, kind=kind)
                        expected = old[:rows].double() + 0.5 * (exact[:rows] + bias.double())
                    error = ((out.double() - expected).norm() / expected.norm()).item()
                    limit = 1e-5 if variant == 0 else 4e-3 if dtype == torch.bfloat16 else 6e-4
                    worst = max(worst, error if variant == 0 else 0)
                    if not error < limit:
                        print("WRONG", dtype, outputs, columns, rows, kind, variant, error)
    check_normed(linear)
    if linear.prompt_module:
        check_prompt(linear)
    torch.cuda.synchronize()
    print("linear checked; worst error of float32 outputs", worst)


def check_prompt(linear):
    """The prompt's kernels have the bits of linear_hopper's, write all of the output and nothing beside it."""
    gated_modules = Module(f"{linear.folder}/rows.sm_90a.cubin")
    for dtype in (torch.bfloat16, torch.float16):
        for outputs, columns in ((64, 64), (104, 72), (768, 768), (2304, 768), (304, 1000), (768, 3072), (4096, 4096), (12904, 520), (264, 8), (28672, 512)):
            packed = linear.pack((torch.randn(outputs, columns, device="cuda") * columns**-0.5).to(dtype))
            bias = torch.randn(outputs, device="cuda")
            all_x = torch.randn(1100, columns + 8, device="cuda").to(dtype)[:, :columns]
            old = torch.randn(1100, outputs + 8, device="cuda").to(dtype)
            for options in (dict(), dict(bias=bias, activation=3), dict(bias=bias, activation=5, scale=0.5), dict(bias=bias, scale=0.5, flags=1), dict(flags=1)):
                expected = old.clone()
                linear.run(packed, all_x, expected[:, :outputs], outputs, kind="serial_64", **options)
                for kind in PROMPT:
                    if kind == "prompt_256" and slices(outputs, columns) > 1:
                        continue
                    for rows in (1, 300, 700, 1100):
                        out = old.clone()
                        linear.run(packed, all_x[:rows], out[:rows, :outputs], outputs, kind=kind, **options)
                        if not torch.equal(out[:rows].view(torch.int16), expected[:rows].view(torch.int16)) or not torch.equal(out[rows:], old[rows:]):
                            print("PROMPT BITS DIFFER", dtype, outputs, columns, rows, kind, options, (out - expected).abs().max().item())
        gated_kernel = gated_modules.kernel(f"gated_{NAMES[dtype]}")
        for inner, columns in ((64, 64), (128, 136), (448, 512), (2816, 1024), (14336, 4096)):
            packed = linear.pack((torch.randn(2 * inner, columns, device="cuda") * columns**-0.5).to(dtype))
            for bias, limit, offset in ((None, float("inf"), 0.0), (torch.randn(2 * inner, device="cuda"), 1.5, 1.0)):
                for rows in (1, 300, 1100):
                    x = torch.randn(rows, columns, device="cuda").to(dtype)
                    both = torch.empty(rows, 2 * inner, device="cuda", dtype=dtype)
                    linear.run(packed, x, both, 2 * inner, bias=bias, kind=64, cut=1)
                    expected = torch.empty(rows, inner, device="cuda", dtype=dtype)
                    gated_kernel((-(-inner // 1024), rows, 1), (128, 1, 1),
                                 [both, long(2 * inner), both[:, inner:], long(2 * inner), 1, limit, limit, offset, expected, long(inner), inner])
                    for tokens in (128, 256):
                        out = torch.full((rows + 1, inner + 8), float("nan"), device="cuda", dtype=dtype)
                        linear.run_gated(packed, x, out[:rows, :inner], inner, tokens, bias, 1.0, limit, offset)
                        if not torch.equal(out[:rows, :inner], expected) or not out[rows].isnan().all() or not out[:, inner:].isnan().all():
                            print("GATED BITS DIFFER", dtype, inner, columns, rows, tokens, limit, (out[:rows, :inner] - expected).abs().max().item())
                for tokens, rows in ((8, 1), (8, 8), (8, 11), (16, 13), (32, 30), (64, 40), (64, 300)):
                    x = torch.randn(rows, columns, device="cuda").to(dtype)
                    both = torch.empty(rows, 2 * inner, device="cuda", dtype=dtype)
                    linear.run(packed, x, both, 2 * inner, bias=bias, kind=64, cut=1)
                    expected = torch.empty(rows, inner, device="cuda", dtype=dtype)
                    gated_kernel((-(-inner // 1024), rows, 1), (128, 1, 1),
                                 [both, long(2 * inner), both[:, inner:], long(2 * inner), 1, limit, limit, offset, expected, long(inner), inner])
                    out = torch.full((rows + 1, inner + 8), float("nan"), device="cuda", dtype=dtype)
                    linear.run_gated_few(packed, x, out[:rows, :inner], inner, tokens, bias, 1.0, limit, offset)
                    if not torch.equal(out[:rows, :inner], expected) or not out[rows].isnan().all() or not out[:, inner:].isnan().all():
                        print("GATED FEW BITS DIFFER", dtype, inner, columns, rows, tokens, limit, (out[:rows, :inner] - expected).abs().max().item())


class NormArguments(ctypes.Structure):
    _fields_ = [("takes_mean", ctypes.c_bool), ("weight", ctypes.c_void_p), ("offset", ctypes.c_float), ("bias", ctypes.c_void_p),
                ("epsilon", ctypes.c_float)]


def check_normed(linear):
    """The norm in the product has the bits of the norm before it."""
    rows_module = Module(f"{linear.folder}/rows.sm_90a.cubin")
    for dtype in (torch.bfloat16, torch.float16):
        norm_kernel = rows_module.kernel(f"norm_{NAMES[dtype]}")
        for outputs, columns in ((64, 8), (100, 72), (768, 768), (2304, 768), (3072, 1024), (5000, 520)):
            packed = linear.pack(torch.randn(outputs, columns, device="cuda").to(dtype))
            bias = torch.randn(outputs, device="cuda")
            for rows in (1, 3, 8):
                for takes_mean in (False, True):
                    x = (torch.randn(rows, columns + 16, device="cuda") * 3 + 1).to(dtype)[:, :columns]
                    weight = torch.rand(columns, device="cuda") + 0.5
                    offsets = torch.randn(columns, device="cuda") if takes_mean else None
                    normed = torch.empty(rows, columns, device="cuda", dtype=dtype)
                    norm_kernel((rows, 1, 1), (min(512, -(-columns // 256) * 32), 1, 1),
                                [x, long(x.stride(0)), int(takes_mean), weight, 0.5, offsets, 1e-5, normed, long(columns), columns])
                    norm = NormArguments(takes_mean, weight.data_ptr(), 0.5, offsets.data_ptr() if takes_mean else None, 1e-5)
                    exact = x.double()
                    exact = exact - exact.mean(1, keepdim=True) if takes_mean else exact
                    exact = exact / (exact.square().mean(1, keepdim=True) + 1e-5).sqrt() * (weight.double() + 0.5)
                    exact = exact + offsets.double() if takes_mean else exact
                    error = ((normed.double() - exact).norm() / exact.norm()).item()
                    if not error < (4e-3 if dtype == torch.bfloat16 else 5e-4):
                        print("WRONG norm", dtype, columns, rows, takes_mean, error)
                    expected, out = [torch.full((rows, outputs), float("nan"), device="cuda") for _ in range(2)]
                    linear.run(packed, normed, expected, outputs, bias=bias, activation=3)
                    linear.run_normed(packed, x, norm, out, outputs, bias=bias, activation=3)
                    if not torch.equal(out, expected):
                        print("NORMED BITS DIFFER", dtype, outputs, columns, rows, takes_mean, (out - expected).abs().max().item())


SHAPES = [
    ("gpt2 qkv", 2304, 768), ("gpt2 o", 768, 768), ("gpt2 up", 3072, 768), ("gpt2 down", 768, 3072), ("gpt2 head", 50257, 768),
    ("llama qkv", 6144, 4096), ("llama o", 4096, 4096), ("llama gate up", 28672, 4096), ("llama down", 4096, 14336),
    ("llama head", 128256, 4096),
]


def few(linear, row_counts=(1, 16, 64), cuts=None, dtype=torch.bfloat16):
    for name, outputs, columns in SHAPES:
        size = outputs * columns * 2
        count = max(2, min(24, int(400e6 / size) + 1))
        weights = [torch.randn(outputs, columns, device="cuda").to(dtype) for _ in range(count)]
        packed = [linear.pack(w) for w in weights]
        for rows in row_counts:
            x = torch.randn(rows, columns, device="cuda").to(dtype)
            out = torch.empty(rows, outputs, device="cuda", dtype=dtype)
            repeat = 4 if size < 2e7 else 1
            library = time_graph([lambda w=w: torch.nn.functional.linear(x, w) for w in weights * repeat])
            line = f"{name:14s} rows {rows:4d} torch {library * 1e6:7.1f} us {size / library / 1e12:5.2f} TB/s |"
            for cut in sorted({slices(outputs, columns), *(cuts or ())}):
                if cut > columns // 64:
                    continue
                times = [time_graph([lambda p=p: linear.run(p, x, out, outputs, cut=cut, pdl=pdl) for p in packed * repeat])
                         for pdl in (False, True)]
                line += f" cut {cut}: {times[0] * 1e6:6.1f} pdl {times[1] * 1e6:6.1f} us {size / times[1] / 1e12:4.2f} TB/s |"
            print(line, flush=True)
        del weights, packed


def many(linear, row_counts=(128, 256, 512, 2048, 8192), dtype=torch.bfloat16):
    for name, outputs, columns in SHAPES:
        if name.endswith("head"):
            continue
        count = 3 if columns > 1000 else 8
        weights = [torch.randn(outputs, columns, device="cuda").to(dtype) for _ in range(count)]
        packed = [linear.pack(w) for w in weights]
        for rows in row_counts:
            x = torch.randn(rows, columns, device="cuda").to(dtype)
            out = torch.empty(rows, outputs, device="cuda", dtype=dtype)
            work = 2 * rows * outputs * columns
            library = time_graph([lambda w=w: torch.nn.functional.linear(x, w) for w in weights])
            line = f"{name:14s} rows {rows:4d} torch {library * 1e6:7.1f} us {work / library / 1e12:4.0f} TF |"
            kinds = (64, 128, 256, "serial_64", "serial_128", "serial_192") if rows < 512 else ("serial_128", *PROMPT)
            for kind in kinds:
                if kind == "prompt_256" and slices(outputs, columns) > 1:
                    continue
                taken = time_graph([lambda p=p: linear.run(p, x, out, outputs, kind=kind, pdl=True) for p in packed])
                line += f" {kind}: {taken * 1e6:7.1f} us {work / taken / 1e12:4.0f} TF |"
            if name == "llama gate up" and rows >= 256:
                gates = torch.empty(rows, outputs // 2, device="cuda", dtype=dtype)
                for tokens in (128, 256):
                    taken = time_graph([lambda p=p: linear.run_gated(p, x, gates, outputs // 2, tokens, pdl=True) for p in packed])
                    line += f" gated_{tokens}: {taken * 1e6:7.1f} us {work / taken / 1e12:4.0f} TF |"
            print(line, flush=True)
        del weights, packed


def gates(linear, dtype=torch.bfloat16):
    """Gates and ups of few rows, gated and multiplied once more: by a kernel each, and with the gating in the first product."""
    gated_kernel = Module(f"{linear.folder}/rows.sm_90a.cubin").kernel(f"gated_{NAMES[dtype]}")
    for name, inner, columns in (("llama 8b", 14336, 4096), ("llama 1b", 8192, 2048), ("qwen 0.6b", 3072, 1024)):
        count = max(3, int(400e6 / (6 * inner * columns)) + 1)
        new = lambda outputs, inputs: linear.pack((torch.randn(outputs, inputs, device="cuda") * inputs**-0.5).to(dtype))
        pairs = [(new(2 * inner, columns), new(columns, inner)) for _ in range(count)]
        for rows in (1, 2, 4, 8, 12, 16, 32, 64):
            x = torch.randn(rows, columns, device="cuda").to(dtype)
            out = torch.zeros(rows, columns, device="cuda", dtype=dtype)
            both = torch.empty(rows, 2 * inner, device="cuda", dtype=dtype)

            def apart(up, down):
                linear.run(up, x, both, 2 * inner, pdl=True)
                gated_kernel((-(-inner // 1024), rows, 1), (128, 1, 1),
                             [both, long(2 * inner), both[:, inner:], long(2 * inner), 1, float("inf"), float("inf"), 0.0, both, long(2 * inner), inner],
                             programmatic=True)
                linear.run(down, both[:, :inner], out, columns, flags=1, pdl=True)

            def together(up, down, tokens):
                linear.run_gated_few(up, x, both[:, :inner], inner, tokens, pdl=True)
                linear.run(down, both[:, :inner], out, columns, flags=1, pdl=True)

            line = f"{name:9s} rows {rows:3d} apart {time_graph([lambda p=p: apart(*p) for p in pairs * 2], 15) * 1e6:6.1f} us"
            for tokens in GATED_CONFIGS:
                if rows <= tokens <= max(16, 4 * rows):
                    line += f" | {tokens}: {time_graph([lambda p=p, t=tokens: together(*p, t) for p in pairs * 2], 15) * 1e6:6.1f}"
            print(line, flush=True)


def small(linear, dtype=torch.float16):
    """Products of GPT-2's shapes: every kernel and number of slices, launched one after the other as in a step."""
    for name, outputs, columns in SHAPES[:4]:
        weights = [torch.randn(outputs, columns, device="cuda").to(dtype) for _ in range(24)]
        packed = [linear.pack(w) for w in weights]
        bias = torch.randn(outputs, device="cuda")
        norm = NormArguments(True, torch.rand(columns, device="cuda").data_ptr(), 0.0, None, 1e-5)
        for rows in (1, 8, 32, 128):
            x = torch.randn(rows, columns, device="cuda").to(dtype)
            out = torch.zeros(rows, outputs, device="cuda", dtype=dtype)
            library = time_graph([lambda w=w: torch.nn.functional.linear(x, w) for w in weights * 4])
            print(f"{name:10s} rows {rows:4d} torch {library * 1e6:5.1f} us", end="")
            for kind in [k for k in CONFIGS if rows <= 2 * (k if isinstance(k, int) else int(k.split("_")[1])) or "serial_32" == k]:
                tokens = kind if isinstance(kind, int) else int(kind.split("_")[1])
                if tokens > 4 * rows or tokens > 128:
                    continue
                line = f" | {kind}:"
                for cut in (1, 2, 4, 8):
                    if columns // 64 < cut or (str(kind).startswith("serial") and cut != slices(outputs, columns)):
                        continue
                    taken = time_graph([lambda p=p: linear.run(p, x, out, outputs, bias=bias, flags=outputs == 768, kind=kind, cut=cut, pdl=True)
                                        for p in packed * 4])
                    line += f" {cut}/{taken * 1e6:.1f}"
                print(line, end="")
            if rows <= 8 and columns <= 1024:
                taken = time_graph([lambda p=p: linear.run_normed(p, x, norm, out, outputs, bias=bias, pdl=True) for p in packed * 4])
                print(f" | normed {taken * 1e6:.1f}", end="")
            print(flush=True)


def main():
    linear = Linear(sys.argv[1])
    for what in sys.argv[2:]:
        if what == "check":
            check(linear)
        elif what == "few":
            few(linear, cuts=(1, 2, 3, 4))
        elif what == "gates":
            gates(linear)
        elif what == "small":
            small(linear)
        elif what == "many":
            many(linear)


if __name__ == "__main__":
    main()
