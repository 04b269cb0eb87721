"""Checks the generic kernels, and rows.cu, against float64: generic.py DIR (cubins of compile.py), or generic.py emulate.

Oracles are PyTorch's and, for quantized weights, the package gguf's (left out where it is not there).
"""

import ctypes
import math
import sys

import numpy
import torch

from driver import Module, long
from attention import NormArguments, PageArguments, RopeArguments

try:
    import gguf.quants as quants
    from gguf.constants import GGMLQuantizationType
except ImportError:
    quants = None

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
LIMITS = {"f32": 2e-6, "bf16": 4e-3, "f16": 6e-4}
CACHE_TYPES = {"f32": 0, "f16": 1, "bf16": 2}
PLAIN = {"F32": 0, "F16": 1, "BF16": 2, "F8_E4M3": 13, "F8_E5M2": 14}
QUANTIZED = {"Q4_0": (15, 32, 18), "Q4_1": (16, 32, 20), "Q5_0": (17, 32, 22), "Q5_1": (18, 32, 24), "Q8_0": (19, 32, 34), "Q2_K": (20, 256, 84),
             "Q3_K": (21, 256, 110), "Q4_K": (22, 256, 144), "Q5_K": (23, 256, 176), "Q6_K": (24, 256, 210), "IQ4_NL": (25, 32, 18),
             "IQ4_XS": (26, 256, 136), "MXFP4": (27, 32, 17), "F8_E4M3_128": (28, 128, 132),
             "I8_128": (29, 128, 132), "I8_32": (30, 32, 36), "I4_128": (31, 128, 72), "I4_32": (32, 32, 24)}
HALVES = {"Q4_0": (0,), "Q4_1": (0, 2), "Q5_0": (0,), "Q5_1": (0, 2), "Q8_0": (0,), "Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2),
          "Q5_K": (0, 2), "Q6_K": (208,), "IQ4_NL": (0,), "IQ4_XS": (0,), "MXFP4": (), "F8_E4M3_128": (), "I8_128": (), "I8_32": (), "I4_128": (),
          "I4_32": ()}
SILU, GELU, GELU_TANH, GELU_QUICK, RELU, RELU_SQUARED = 1, 2, 3, 4, 5, 6


class Lab:
    def __init__(self, where):
        self.emulates = where == "emulate"
        self.device = "cpu" if self.emulates else "cuda"
        self.where, self.modules, self.wrong, self.checks = where, {}, 0, 0

    def module(self, file):
        if file not in self.modules:
            if self.emulates:
                import emulator
                self.modules[file] = emulator.Module(f"{file}.cu")
            else:
                self.modules[file] = Module(f"{self.where}/{file}.sm_90a.cubin")
        return self.modules[file]

    def run(self, file, name, grid, block, arguments, shared=0):
        kernel = self.module(file).kernel(name)
        kernel((*grid, 1, 1)[:3], (block, 1, 1), arguments, shared, programmatic=True)

    def races(self):
        return sum(module.races() for module in self.modules.values()) if self.emulates else 0

    def rows(self, rows, columns, suffix, spare=3, scale=1.0):
        """Random rows with a gap between them; their stride misses every alignment."""
        wide = torch.randn(rows, columns + spare, device=self.device) * scale
        return wide.to(DTYPES[suffix])[:, :columns]

    def poisoned(self, rows, columns, suffix, spare=5):
        return torch.full((rows, columns + spare), float("nan"), device=self.device, dtype=DTYPES[suffix])[:, :columns]

    def floats(self, count):
        return torch.randn(count, device=self.device)

    def ints(self, values):
        return torch.tensor(values, dtype=torch.int32, device=self.device)

    def expect(self, what, actual, exact, limit):
        self.checks += 1
        exact = exact.double()
        error = ((actual.double() - exact).norm() / exact.norm().clamp_min(1e-30)).item()
        if not error <= limit:
            self.wrong += 1
            print("WRONG", what, error, "limit", limit, flush=True)

    def same(self, what, actual, expected):
        self.checks += 1
        if not torch.equal(actual, expected):
            self.wrong += 1
            print("BITS DIFFER", what, (actual.double() - expected.double()).abs().max().item(), flush=True)


def activated(kind, x):
    f = torch.nn.functional
    return {0: lambda: x, SILU: lambda: f.silu(x), GELU: lambda: f.gelu(x), GELU_TANH: lambda: f.gelu(x, approximate="tanh"),
            GELU_QUICK: lambda: x * torch.sigmoid(1.702 * x), RELU: lambda: f.relu(x), RELU_SQUARED: lambda: f.relu(x) ** 2}[kind]()


class Weight:
    """A table of blocks of rows, and what they mean in float32."""

    def __init__(self, lab, columns, parts):
        self.columns, self.kept, entries, values, first = columns, [], b"", [], 0
        for name, rows in parts:
            data, numbers = self.plain(name, rows) if name in PLAIN else self.quantized(name, rows)
            data = torch.from_numpy(numpy.concatenate([data.reshape(-1), numpy.zeros(16, numpy.uint8)])).to(lab.device)
            kind = PLAIN.get(name, QUANTIZED.get(name, (0,))[0])
            entries += data.data_ptr().to_bytes(8, "little") + ((data.numel() - 16) // rows).to_bytes(8, "little")
            entries += first.to_bytes(4, "little") + kind.to_bytes(4, "little")
            self.kept.append(data)
            values.append(torch.from_numpy(numbers))
            first += rows
        self.table = torch.frombuffer(bytearray(entries), dtype=torch.uint8).to(lab.device)
        self.count, self.rows = len(parts), first
        self.values = torch.cat(values).to(lab.device)

    def plain(self, name, rows):
        dtype = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2}[name]
        numbers = torch.randn(rows, self.columns).to(dtype)
        return numbers.view(torch.uint8).numpy(), numbers.float().numpy()

    def quantized(self, name, rows):
        _, elements, size = QUANTIZED[name]
        if name[0] == "I" and name[1] in "48" and name[2] == "_":
            return self.whole_numbers(name, rows, elements)
        blocks = rows * self.columns // elements
        data = numpy.random.default_rng(5).integers(0, 256, (blocks, size), dtype=numpy.uint8)
        for at in HALVES[name]:
            data[:, at : at + 2] = (numpy.random.default_rng(at).standard_normal(blocks) * 0.05).astype(numpy.float16).view(numpy.uint8).reshape(-1, 2)
        if name == "MXFP4":
            data[:, 0] = numpy.random.default_rng(6).integers(118, 128, blocks)
            data[0, 0], data[-1, 0] = 0, 1
        if name == "F8_E4M3_128":
            scales = (numpy.random.default_rng(7).random(blocks) * 0.01 + 0.001).astype(numpy.float32)
            codes = data[:, 4:]
            codes[(codes & 127) == 127] = 1  # no NaN
            data[:, :4] = scales.view(numpy.uint8).reshape(-1, 4)
            numbers = torch.from_numpy(codes.copy()).view(torch.float8_e4m3fn).float().numpy() * scales[:, None]
            return data.reshape(rows, -1), numbers.reshape(rows, self.columns)
        data = data.reshape(rows, -1)
        if quants is None:  # good for checks of bits alone
            return data, numpy.zeros((rows, self.columns), numpy.float32)
        return data, quants.dequantize(data, GGMLQuantizationType[name]).astype(numpy.float32).reshape(rows, self.columns)

    def whole_numbers(self, name, rows, elements):
        """Blocks of a scale, a zero where codes have 4 bits, and codes: of 32, the first half is in the lower bits."""
        random, blocks = numpy.random.default_rng(9), rows * self.columns // elements
        scales = (random.random((blocks, 1)) * 0.01 + 0.001).astype(numpy.float16).astype(numpy.float32)  # as checkpoints have them
        if name[1] == "8":
            codes = random.integers(-128, 128, (blocks, elements), dtype=numpy.int8)
            data = numpy.concatenate([scales.view(numpy.uint8), codes.view(numpy.uint8)], axis=1)
            return data.reshape(rows, -1), (codes * scales).reshape(rows, self.columns)
        zeros = random.integers(0, 17, (blocks, 1)).astype(numpy.float32)
        codes = random.integers(0, 16, (blocks, elements // 32, 2, 16), dtype=numpy.uint8)
        pairs = (codes[:, :, 0] | codes[:, :, 1] << 4).reshape(blocks, -1)
        data = numpy.concatenate([scales.view(numpy.uint8), zeros.view(numpy.uint8), pairs], axis=1)
        return data.reshape(rows, -1), ((codes.reshape(blocks, -1) - zeros) * scales).reshape(rows, self.columns)


def linear(lab, suffix, weight, x, out, outputs, bias=None, activation=0, scale=1.0, flags=0):
    flags |= 2 if out.dtype == torch.float32 else 0
    lab.run("generic_linear", f"linear_{suffix}", (-(-outputs // 8), -(-x.shape[0] // 8)), 256,
            [x, long(x.stride(0)), weight.table, weight.count, weight.columns, outputs, bias, activation, float(scale), flags, out,
             long(out.stride(0)), x.shape[0]])


def check_linear(lab):
    names = list(PLAIN) + (list(QUANTIZED) if quants else [])
    for name in names:
        suffixes = DTYPES if name in ("F32", "BF16", "Q4_K", "Q8_0") else ("f32",)
        for suffix in suffixes:
            for columns in (512,) + ((100, 7) if name in PLAIN else (256,)):
                weight = Weight(lab, columns, [(name, 37)])
                x = lab.rows(19, columns, suffix)
                out = lab.poisoned(19, 37, "f32")
                linear(lab, suffix, weight, x, out, 37)
                lab.expect(f"linear {name} {suffix} {columns}", out, x.double() @ weight.values.double().T, 2e-6)
                table = lab.poisoned(4, columns, "f32")
                ids = lab.ints([36, 0, 5, 5])
                lab.run("generic_linear", "table_rows_f32", (4, -(-columns // 256)), 256,
                        [weight.table, weight.count, columns, weight.rows, ids, 1.0, 0, table, long(table.stride(0))])
                lab.same(f"table {name}", table, weight.values[ids.long()])
    for suffix in DTYPES:
        parts = [("Q4_0", 11), ("Q6_K", 5), ("BF16", 24)] if quants else [("F32", 11), ("F16", 5), ("BF16", 24)]
        weight = Weight(lab, 512, parts)
        x, bias, old = lab.rows(70, 512, suffix, scale=0.05), lab.floats(40), lab.rows(70, 40, suffix)
        sums = x.double() @ weight.values.double().T + bias.double()
        for activation in range(7):
            out = old.clone()
            linear(lab, suffix, weight, x, out, 40, bias, activation, 0.5, 1)
            lab.expect(f"epilogue {activation} {suffix}", out, old.double() + 0.5 * activated(activation, sums), LIMITS[suffix])
        full, alone = lab.poisoned(70, 40, "f32"), lab.poisoned(1, 40, "f32")
        linear(lab, suffix, weight, x, full, 40)
        for r in (0, 8, 69):
            linear(lab, suffix, weight, x[r : r + 1], alone, 40)
            lab.same(f"linear {suffix} alone", alone[0], full[r])
        # Experts: 4 matrices of 10 outputs.
        for spread in (False, True):
            chosen = 3
            experts = lab.ints([[1, 3, 0], [2, 1, 3], [3, 2, 0], [0, 1, 2], [3, 3, 1]])
            x = lab.rows(5 * chosen if spread else 5, 512, suffix, scale=0.05)
            out = lab.poisoned(15, 10, suffix)
            lab.run("generic_linear", f"grouped_linear_{suffix}", (15, 2), 256,
                    [x, long(x.stride(0)), 1 if spread else chosen, experts, weight.table, weight.count, 512, 10, bias, SILU, 0.5,
                     2 if suffix == "f32" else 0, out, long(out.stride(0))])
            inputs = x if spread else x.repeat_interleave(chosen, 0)
            chosen_weight = weight.values.view(4, 10, 512)[experts.view(-1).long()].double()
            exact = torch.einsum("cnk,ck->cn", chosen_weight, inputs.double()) + bias.view(4, 10)[experts.view(-1).long()].double()
            lab.expect(f"experts {suffix} {spread}", out, 0.5 * activated(SILU, exact), LIMITS[suffix])
        # Heads: 4 matrices of 10 x 96 on parts of rows.
        heads = Weight(lab, 96, [("F32", 17), ("BF16", 23)])
        x = lab.rows(11, 4 * 100, suffix)
        out = lab.rows(11, 4 * 13, suffix)
        before = out.clone()
        lab.run("generic_linear", f"head_linear_{suffix}", (5, 2), 256,
                [x, long(x.stride(0)), 100, heads.table, heads.count, 4, 96, 10, out, long(out.stride(0)), 13, 11])
        exact = before.double().view(11, 4, 13).clone()
        exact[:, :, :10] = torch.einsum("hnk,rhk->rhn", heads.values.view(4, 10, 96).double(), x.reshape(11, 4, 100)[:, :, :96].double())
        lab.expect(f"heads {suffix}", out, exact.view(11, 52), LIMITS[suffix])
        lab.same(f"between heads {suffix}", out.reshape(11, 4, 13)[:, :, 10:], before.view(11, 4, 13)[:, :, 10:])


def exact_norm(x, layer, weight, offset, bias, epsilon):
    x = x.double()
    x = x - x.mean(-1, keepdim=True) if layer else x
    y = x / (x.square().mean(-1, keepdim=True) + epsilon).sqrt() * (weight.double() + offset)
    return y if bias is None else y + bias.double()


def check_rows(lab):
    for suffix in DTYPES:
        for fast in (False, True) if suffix != "f32" else (False,):
            file = "rows" if fast else "generic_rows"
            spare = 8 if fast else 3
            for rows, columns in ((5, 64), (3, 776), (2, 4096)) + (() if fast else ((3, 7), (4, 1001))):
                grid = ((-(-columns // 1024), rows) if fast else (rows, -(-columns // 256)))
                block = 128 if fast else 256
                x, old, up = (lab.rows(rows, columns, suffix, spare) for _ in range(3))
                weight, bias = lab.floats(columns), lab.floats(columns)
                stride = long(x.stride(0))
                threads = (512 if columns > 8192 else -(-columns // 256) * 32) if fast else 256
                for layer, offset, b in ((0, 0.0, None), (1, 0.0, bias), (0, 1.0, None), (1, 1.0, None)):
                    exact = exact_norm(x, layer, weight, offset, b, 1e-5)
                    for in_place in (False, True):
                        source = x.clone() if in_place else x
                        out = source if in_place else lab.poisoned(rows, columns, suffix, spare)
                        lab.run(file, f"norm_{suffix}", (rows,), threads,
                                [source, long(source.stride(0)), layer, weight, offset, b, 1e-5, out, long(out.stride(0)), columns])
                        lab.expect(f"{file} norm {suffix} {columns} {layer} {offset}", out, exact, LIMITS[suffix])
                    out = old.clone()
                    lab.run(file, f"add_normed_{suffix}", (rows,), threads,
                            [x, stride, layer, weight, offset, b, 1e-5, 0.7, out, long(out.stride(0)), columns])
                    lab.expect(f"{file} add_normed {suffix} {columns}", out, old.double() + 0.7 * exact, LIMITS[suffix])
                for activation, limit, up_limit, offset in ((SILU, math.inf, math.inf, 0.0), (GELU_TANH, 0.9, 0.4, 0.0), (GELU_QUICK, 0.7, 0.7, 1.0)):
                    out = lab.poisoned(rows, columns, suffix, spare)
                    lab.run(file, f"gated_{suffix}", grid, block,
                            [x, stride, up, long(up.stride(0)), activation, limit, up_limit, offset, out, long(out.stride(0)), columns])
                    exact = activated(activation, x.double().clamp(max=limit)) * (up.double().clamp(-up_limit, up_limit) + offset)
                    lab.expect(f"{file} gated {suffix} {activation}", out, exact, LIMITS[suffix])
                index = lab.ints([rows - 1, 0])
                out = lab.poisoned(2, columns, suffix, spare)
                lab.run(file, "gather" if fast else f"gather_{suffix}", (grid[0], 2) if fast else (2, grid[1]), block,
                        [x, stride, index, out, long(out.stride(0)), columns])
                lab.same(f"{file} gather {suffix}", out, x[index.long()])
                if fast:
                    check_fast_embed(lab, suffix, columns)
                    continue
                order = lab.ints(torch.randperm(columns).tolist())
                out = lab.poisoned(rows, columns, suffix, spare)
                lab.run(file, f"order_{suffix}", grid, block, [x, stride, order, out, long(out.stride(0)), columns])
                lab.same(f"order {suffix}", out, x[:, order.long()])
                out, gate = old.clone(), lab.rows(rows, 1, suffix)
                lab.run(file, f"add_gated_{suffix}", grid, block,
                        [x, stride, gate, long(gate.stride(0)), 0.3, out, long(out.stride(0)), columns])
                lab.expect(f"add_gated {suffix}", out, old.double() + 0.3 * torch.sigmoid(gate.double()) * x.double(), LIMITS[suffix])
                out, spread, weights = old.clone(), lab.rows(rows * 3, columns, suffix), torch.rand(rows, 3, device=lab.device)
                lab.run(file, f"combine_experts_{suffix}", grid, block,
                        [spread, long(spread.stride(0)), weights, 3, 0.3, 1, out, long(out.stride(0)), columns])
                exact = old.double() + 0.3 * torch.einsum("rj,rjc->rc", weights.double(), spread.double().view(rows, 3, columns))
                lab.expect(f"combine {suffix}", out, exact, LIMITS[suffix])
                for cap in (0.0, 2.0):
                    out = x.clone()
                    lab.run(file, f"scale_logits_{suffix}", grid, block, [out, long(out.stride(0)), 1.5, cap, columns])
                    lab.expect(f"scale_logits {suffix}", out, cap * torch.tanh(1.5 * x.double() / cap) if cap else 1.5 * x.double(), LIMITS[suffix])
                back = lab.poisoned(rows, columns, "f32")
                lab.run(file, f"to_floats_{suffix}", grid, block, [x, stride, back, long(back.stride(0)), columns])
                lab.same(f"to_floats {suffix}", back, x.float())
    for elements in (2048, 1002):
        cache = torch.randn(3, 5, elements, device=lab.device).half()
        expected = cache.clone()
        expected[:, 4] = expected[:, 1]
        lab.run("generic_rows", "copy_page", (2, 3), 256, [cache, long(5 * elements * 2), long(elements * 2), 1, 4])
        lab.same("copy_page", cache, expected)


def check_fast_embed(lab, suffix, columns):
    rows = 70
    table = torch.randn(rows, columns, device=lab.device).to(DTYPES[suffix])
    tiles = -(-columns // 64)
    padded = torch.zeros(128, tiles * 64, device=lab.device, dtype=DTYPES[suffix])
    padded[:rows, :columns] = table
    chunks = padded.view(2, 64, tiles, 8, 8).permute(0, 2, 1, 3, 4)  # row tile, column tile, row, chunk, number
    packed = torch.empty_like(chunks)
    for r in range(64):
        for c in range(8):
            packed[:, :, r, c ^ (r & 7)] = chunks[:, :, r, c]
    packed = packed.contiguous()
    ids, old = lab.ints([69, 3, 0]), lab.rows(3, columns, suffix, 8)
    for adds in (0, 1):
        out = old.clone()
        lab.run("rows", f"embed_{suffix}", (-(-columns // 1024), 3), 128, [packed, rows, ids, 1.5, adds, out, long(out.stride(0)), columns])
        lab.expect(f"embed {suffix}", out, 1.5 * table[ids.long()].double() + adds * old.double(), LIMITS[suffix])


def rotated(x, frequencies, position, factor, interleaved):
    """Float64 of [rows, heads, size]; the angle is the float32 product."""
    pairs = frequencies.numel()
    angle = (position.float()[:, None] * frequencies[None]).double()[:, None]
    cosine, sine = angle.cos() * factor, angle.sin() * factor
    y = x.clone()
    first = x[..., 0 : 2 * pairs : 2] if interleaved else x[..., :pairs]
    second = x[..., 1 : 2 * pairs : 2] if interleaved else x[..., pairs : 2 * pairs]
    a, b = first * cosine - second * sine, second * cosine + first * sine
    if interleaved:
        y[..., 0 : 2 * pairs : 2], y[..., 1 : 2 * pairs : 2] = a, b
    else:
        y[..., :pairs], y[..., pairs : 2 * pairs] = a, b
    return y


class Pages:
    """Sequences on shuffled pages of one layer."""

    def __init__(self, lab, contexts, fresh, key_heads, key_size, value_size, page, cache_suffix):
        generator = torch.Generator().manual_seed(4)
        self.page, self.suffix, self.max_pages = page, cache_suffix, -(-max(contexts) // page) + 1
        used = [-(-c // page) for c in contexts]
        order = torch.randperm(sum(used) + 2, generator=generator).tolist()
        table = torch.full((len(contexts), self.max_pages), -1, dtype=torch.int32)
        for s, count in enumerate(used):
            table[s, :count] = torch.tensor([order.pop() for _ in range(count)], dtype=torch.int32)
        self.table = table.to(lab.device)
        self.elements = key_heads * page * (key_size + value_size)
        self.cache = torch.full((sum(used) + 2, self.elements), float("nan"), device=lab.device, dtype=DTYPES[cache_suffix])
        self.sequence = lab.ints([s for s, f in enumerate(fresh) for _ in range(f)])
        self.positions = lab.ints([p for c, f in zip(contexts, fresh) for p in range(c - f, c)])
        self.key_heads, self.key_size, self.value_size = key_heads, key_size, value_size
        self.contexts = contexts

    def arguments(self):
        return [self.cache, CACHE_TYPES[self.suffix], long(self.elements), self.page, self.table, self.max_pages, self.sequence, self.positions]

    def views(self, s):
        """Keys [heads, positions, keySize] and values of a sequence, as views of nothing: copies."""
        count = -(-self.contexts[s] // self.page)
        pages = self.cache[self.table[s, :count].long()]
        split = self.key_heads * self.page * self.key_size
        keys = pages[:, :split].reshape(count, self.key_heads, self.page, self.key_size).permute(1, 0, 2, 3).reshape(self.key_heads, count * self.page, self.key_size)
        values = pages[:, split:].reshape(count, self.key_heads, self.page, self.value_size).permute(1, 0, 2, 3).reshape(self.key_heads, count * self.page, self.value_size)
        return keys[:, : self.contexts[s]], values[:, : self.contexts[s]]

    def fill(self):
        """Numbers in all positions of the sequences, NaN elsewhere."""
        for s, context in enumerate(self.contexts):
            for p in range(context):
                page = self.cache[int(self.table[s, p // self.page])]
                split = self.key_heads * self.page * self.key_size
                page[:split].view(self.key_heads, self.page, -1)[:, p % self.page] = torch.randn(self.key_heads, self.key_size).to(page)
                if self.value_size:
                    page[split:].view(self.key_heads, self.page, -1)[:, p % self.page] = torch.randn(self.key_heads, self.value_size).to(page)


def check_append(lab):
    rounding = {"f32": 0, "bf16": 2**-8, "f16": 2**-11}
    cases = [(4, 2, 16, 16, 8, 0, "rms", 0), (4, 4, 24, 40, 12, 1, "layer", 24), (6, 2, 64, 64, 16, 0, None, 0), (2, 1, 128, 128, 64, 0, "rms", 128)]
    for suffix in DTYPES:
        for heads, key_heads, key_size, value_size, pairs, interleaved, norm, step in cases:
            for cache_suffix, page, fast in ((suffix, 16, False), ("bf16", 5, False), ("f16", 16, False), (suffix, 16, True)):
                if fast and suffix == "f32":
                    continue
                pages = Pages(lab, [40, 7, 100], [5, 7, 1], key_heads, key_size, value_size, page, cache_suffix)
                rows = pages.positions.numel()
                spare = 8 if fast else 3
                query, key, value = (lab.rows(rows, n, suffix, spare) for n in (heads * key_size, key_heads * key_size, key_heads * value_size))
                frequencies = 10000.0 ** (-torch.arange(pairs, device=lab.device) / pairs)
                pages.positions[0] = 90000 if not fast and page == 5 else int(pages.positions[0])  # far positions turn precisely
                if int(pages.positions[0]) == 90000:
                    pages.sequence[0] = 0
                    pages.max_pages = 18001
                    pages.table = torch.nn.functional.pad(pages.table, (0, 18001 - pages.table.shape[1]), value=0).contiguous()
                weights = [lab.floats(max(step * n, key_size)) for n in (heads, key_heads)]
                biases = [lab.floats(w.numel()) if norm == "layer" else None for w in weights]
                exact = []
                for x, n, weight, bias in ((query, heads, weights[0], biases[0]), (key, key_heads, weights[1], biases[1])):
                    y = x.double().reshape(rows, n, key_size)
                    if norm:
                        w = weight.view(n, key_size) if step else weight
                        b = bias if bias is None else bias.view(n, key_size) if step else bias
                        y = exact_norm(y, norm == "layer", w, 1.0, b, 1e-6)
                    exact.append(rotated(y, frequencies, pages.positions, 1.25, interleaved))
                kind = {None: 0, "rms": 1, "layer": 2}[norm]
                stride = [long(x.stride(0)) for x in (query, key, value)]
                if fast:
                    none = NormArguments()
                    norms = [NormArguments(kind == 2, w.data_ptr(), 1.0, b.data_ptr() if b is not None else None, 1e-6) if norm else none
                             for w, b in zip(weights, biases)]
                    changed = heads + key_heads if norm or pairs else key_heads
                    of_warp = (1, 3, 100)[rows % 3]
                    warps = rows * -(-(changed + key_heads) // of_warp)
                    lab.run("rows", f"rope_append_{suffix}", (-(-warps // 4),), 128,
                            [query, stride[0], key, stride[1], value, stride[2], heads, key_heads, key_size, value_size, norms[0], step, norms[1], step,
                             RopeArguments(frequencies.data_ptr(), pairs, 1.25, interleaved),
                             PageArguments(pages.cache.data_ptr(), pages.elements, pages.table.data_ptr(), pages.max_pages, pages.sequence.data_ptr(),
                                           pages.positions.data_ptr()), rows, of_warp])
                else:
                    norms = [[kind, w if norm else None, step, 1.0, b, 1e-6] for w, b in zip(weights, biases)]
                    lab.run("generic_attention", f"append_{suffix}", (rows, heads + 2 * key_heads), 32,
                            [query, stride[0], key, stride[1], value, stride[2], heads, key_heads, key_size, value_size, *norms[0], *norms[1],
                             frequencies, pairs, 1.25, interleaved, *pages.arguments()], 4 * key_size)
                what = f"append {'fast ' if fast else ''}{suffix} {norm} {interleaved} cache {cache_suffix} page {page}"
                limit = max(LIMITS[suffix], 3e-6)
                lab.expect(what + " query", query.reshape(rows, heads, key_size), exact[0], limit)
                lab.expect(what + " key", key.reshape(rows, key_heads, key_size), exact[1], limit)
                for r in range(1, rows):
                    s, p = int(pages.sequence[r]), int(pages.positions[r])
                    keys, values = pages.views(s)
                    lab.same(what + " cached key", keys[:, p], key[r].reshape(key_heads, key_size).to(pages.cache.dtype))
                    lab.same(what + " cached value", values[:, p], value[r].reshape(key_heads, value_size).to(pages.cache.dtype))
                written = rows * key_heads * (key_size + value_size)
                lab.same(what + " nothing else", torch.tensor(int((~pages.cache.isnan()).sum())), torch.tensor(written))


def check_latent(lab):
    heads, key_size, value_size, query_size, pairs = 3, 28, 20, 24, 4
    for suffix in DTYPES:
        for interleaved in (0, 1):
            pages = Pages(lab, [40, 7], [5, 7], 1, key_size, 0, 16, suffix)
            rows = pages.positions.numel()
            query, latent = lab.rows(rows, heads * query_size, suffix), lab.rows(rows, key_size, suffix)
            absorbed = lab.rows(rows, heads * key_size, suffix)
            before, latent_before = absorbed.clone(), latent.clone()
            frequencies = 10000.0 ** (-torch.arange(pairs, device=lab.device) / pairs)
            lab.run("generic_attention", f"append_latent_{suffix}", (rows, heads + 1), 32,
                    [query, long(query.stride(0)), query_size, latent, long(latent.stride(0)), absorbed, long(absorbed.stride(0)), heads, key_size,
                     value_size, frequencies, pairs, 1.0, interleaved, *pages.arguments()], 4 * (key_size - value_size))
            tail = query.double().reshape(rows, heads, query_size)[..., query_size - 8 :]
            exact = before.double().view(rows, heads, key_size).clone()
            exact[..., value_size:] = rotated(tail, frequencies, pages.positions, 1.0, interleaved)
            lab.expect(f"latent query {suffix}", absorbed.reshape(rows, heads, key_size), exact, LIMITS[suffix])
            exact = latent_before.double().clone()
            exact[:, value_size:] = rotated(exact[:, None, value_size:], frequencies, pages.positions, 1.0, interleaved)[:, 0]
            lab.expect(f"latent key {suffix}", latent, exact, LIMITS[suffix])
            for r in range(rows):
                lab.same("latent cached", pages.views(int(pages.sequence[r]))[0][0, int(pages.positions[r])], latent[r])


def check_attention(lab):
    cases = [(4, 2, 16, 16, 16, 0, 0.0, False, False), (6, 2, 24, 40, 5, 33, 0.0, True, False), (4, 1, 64, 64, 16, 0, 5.0, False, False),
             (3, 1, 28, 20, 16, 0, 0.0, False, True), (2, 1, 288, 256, 16, 70, 3.0, True, True), (8, 8, 128, 128, 32, 100, 0.0, False, False)]
    for heads, key_heads, key_size, value_size, page, window, cap, has_sinks, latent in cases:
        for suffix, cache_suffix in (("f32", "f32"), ("f32", "f16"), ("bf16", "bf16"), ("f16", "bf16")):
            torch.manual_seed(9)
            pages = Pages(lab, [150, 1, 65, 64], [3, 1, 65, 2], key_heads, key_size, 0 if latent else value_size, page, cache_suffix)
            pages.fill()
            if window:
                for s, f in enumerate([3, 1, 65, 2]):
                    hidden = max(0, pages.contexts[s] - f + 1 - window) // page
                    seen = pages.table[s, :hidden].long()
                    pages.cache[seen] = float("nan")  # behind the window
            rows = pages.positions.numel()
            query = lab.rows(rows, heads * key_size, suffix)
            sinks = lab.floats(heads) if has_sinks else None
            scale = key_size**-0.5
            exact = torch.zeros(rows, heads, value_size, dtype=torch.float64, device=lab.device)
            for r in range(rows):
                s, end = int(pages.sequence[r]), int(pages.positions[r]) + 1
                first = max(0, end - window) if window else 0
                keys, values = pages.views(s)
                values = keys[..., :value_size] if latent else values
                group = heads // key_heads
                k = keys[:, first:end].double().repeat_interleave(group, 0)
                v = values[:, first:end].double().repeat_interleave(group, 0)
                scores = torch.einsum("hd,hpd->hp", query[r].double().view(heads, key_size), k) * scale
                scores = cap * torch.tanh(scores / cap) if cap else scores
                if has_sinks:
                    scores = torch.cat([scores, sinks.double()[:, None]], 1)
                    v = torch.cat([v, torch.zeros_like(v[:, :1])], 1)
                exact[r] = torch.einsum("hp,hpd->hd", scores.softmax(1), v)

            def attend(q, sequence, positions):
                out = lab.poisoned(q.shape[0], heads * value_size, suffix)
                arguments = pages.arguments()
                arguments[-2:] = [sequence, positions]
                lab.run("generic_attention", f"attention_{suffix}", (q.shape[0], heads), 128,
                        [q, long(q.stride(0)), heads, key_heads, key_size, value_size, int(latent), float(scale), float(cap), window, sinks, None, None, None, 0,
                         None, long(0), None, long(0), 0, None, 0, out, long(out.stride(0)), *arguments], 4 * (key_size + 64 + value_size))
                return out

            out = attend(query, pages.sequence, pages.positions)
            what = f"attention {suffix} cache {cache_suffix} {heads, key_heads, key_size, value_size, page, window, cap, has_sinks, latent}"
            lab.expect(what, out.reshape(rows, heads, value_size), exact, LIMITS[suffix])
            alone = attend(query[5:6], pages.sequence[5:6].clone(), pages.positions[5:6].clone())
            lab.same(what + " alone", alone[0], out[5])
            empty = attend(query[:1], pages.sequence[:1].clone(), lab.ints([-1]))
            lab.same(what + " filling row", empty, torch.zeros_like(empty))


def routed(logits, scoring, chosen, normalizes, groups, chosen_groups, correction, scale, expert_scales):
    scores = {0: lambda: logits.softmax(0), 1: lambda: torch.sigmoid(logits), 2: lambda: torch.nn.functional.softplus(logits).sqrt(),
              3: lambda: logits.clone()}[scoring]()
    ranks = scores + (correction if correction is not None else 0)
    if chosen_groups < groups:
        size = len(ranks) // groups
        sums = ranks.view(groups, size).topk(min(2, size), 1).values.sum(1)
        kept = sums.argsort(descending=True, stable=True)[:chosen_groups]
        mask = torch.full_like(ranks, float("-inf")).view(groups, size)
        mask[kept] = 0
        ranks = ranks + mask.view(-1)
    experts = ranks.argsort(descending=True, stable=True)[:chosen]
    weights = scores[experts]
    weights = weights.softmax(0) if scoring == 3 else weights / (weights.sum() + 1e-20) if normalizes else weights
    return experts, weights * scale * (expert_scales[experts] if expert_scales is not None else 1)


def check_held(lab, suffix, logits, experts, scoring, chosen, normalizes, correction, expert_scales, shares, ids, weights):
    """The routers that hold their scores have the bits of the others, and make a tile of each choice."""
    held, held_weights = torch.full_like(ids, -1), torch.full_like(weights, -1)
    order, tiles = torch.full_like(ids, -1), lab.ints([-1] * 4 * ids.numel())
    lab.run("generic_experts", f"route_held_{suffix}", (9,), 32,
            [logits, long(logits.stride(0)), scoring, experts, chosen, normalizes, correction, 2.5, expert_scales, shares, 0.75, held, held_weights, order, tiles])
    lab.same(f"held experts {suffix} {scoring}", held, ids)
    lab.same(f"held weights {suffix} {scoring}", held_weights, weights)
    numbers = torch.arange(ids.numel(), device=ids.device, dtype=ids.dtype)
    lab.same(f"order {suffix}", order.view(-1), numbers)
    ones, zeros = torch.ones_like(numbers), torch.zeros_like(numbers)
    lab.same(f"tiles {suffix}", tiles.view(-1, 4), torch.stack([ids.view(-1), numbers, ones, zeros], 1))


def check_experts(lab):
    for suffix in DTYPES:
        for experts, chosen, groups, chosen_groups in ((4, 2, 1, 1), (8, 3, 4, 2), (128, 8, 1, 1), (256, 8, 8, 4), (60, 4, 1, 1), (512, 10, 1, 1)):
            for scoring in range(4):
                for normalizes, corrected in ((0, False), (1, True)):
                    shares = scoring % 3 if normalizes else 0  # one that every row has: 2 with a gate behind the logits
                    logits = lab.rows(9, experts + 1, suffix)
                    logits[3] = 0  # all equal: the lowest ones win
                    correction = lab.floats(experts) * 0.1 if corrected else None
                    expert_scales = lab.floats(experts) if corrected else None
                    choices = chosen + (shares > 0)
                    ids = lab.ints([[-1] * choices] * 9)
                    weights = lab.poisoned(9, choices, "f32", 0)
                    lab.run("generic_experts", f"route_experts_{suffix}", (9,), 32,
                            [logits, long(logits.stride(0)), scoring, experts, chosen, normalizes, groups, chosen_groups, correction, 2.5, expert_scales, 0.0, None, None, shares, 0.75, ids, weights],
                            4 * (2 * experts + chosen + groups))
                    if groups == chosen_groups:
                        check_held(lab, suffix, logits, experts, scoring, chosen, normalizes, correction, expert_scales, shares, ids, weights)
                    for r in range(9):
                        # Ranks are compared in float32, as the kernel does; ties in 16 bits are ties in both.
                        exact_ids, exact_weights = routed(logits[r, :experts].float(), scoring, chosen, normalizes, groups, chosen_groups, correction, 2.5, expert_scales)
                        if shares:
                            gate = logits[r, experts].float().sigmoid() if shares == 2 else torch.ones((), device=lab.device)
                            exact_ids = torch.cat([exact_ids, torch.tensor([experts], device=lab.device)])
                            exact_weights = torch.cat([exact_weights, 0.75 * gate.view(1)])
                        lab.same(f"experts {suffix} {experts} {scoring} {shares}", ids[r].long(), exact_ids)
                        lab.expect(f"weights {suffix} {experts} {scoring} {shares}", weights[r], exact_weights, 1e-5)


def main():
    lab = Lab(sys.argv[1])
    torch.manual_seed(1)
    only = sys.argv[2:]
    for check in (check_linear, check_rows, check_append, check_latent, check_attention, check_experts):
        if not only or check.__name__[6:] in only:
            check(lab)
            if not lab.emulates:
                torch.cuda.synchronize()
            print(f"{check.__name__[6:]}: {lab.checks} checks so far, {lab.wrong} wrong, {lab.races()} races", flush=True)
    sys.exit(1 if lab.wrong or lab.races() else 0)


if __name__ == "__main__":
    main()
