"""Runs whole decoder steps from the kernels alone, checks them and times them: step.py DIR [gpt2|llama1b|llama ...].

Weights are random. A step is one CUDA graph, from token ids to logits, each kernel launched programmatically. The check
compares the logits with the same decoder in PyTorch (float32 sums of the same 16-bit weights) and the bits of a row alone
with its bits in the batch.
"""

import sys

import torch

from attention import Batch, WARP_APPEND_PAIRS, Fresh, Kernels as Attention, NormArguments
from driver import Module, long
from linear import Linear, NAMES, NORM_COLUMNS, NORM_ROWS

GELU_TANH, SILU = 3, 1
MOST_FRESH_NUMBERS = 51_200  # of keys, from which an append before attention is faster


class Shape:
    def __init__(self, name):
        if name == "gpt2":
            self.layers, self.width, self.inner, self.vocabulary = 12, 768, 3072, 50257
            self.key_heads, self.group, self.size, self.dtype, self.gated = 12, 1, 64, torch.float16, False
        elif name == "llama1b":
            self.layers, self.width, self.inner, self.vocabulary = 16, 2048, 8192, 128256
            self.key_heads, self.group, self.size, self.dtype, self.gated = 8, 4, 64, torch.bfloat16, True
        else:
            self.layers, self.width, self.inner, self.vocabulary = 32, 4096, 14336, 128256
            self.key_heads, self.group, self.size, self.dtype, self.gated = 8, 4, 128, torch.bfloat16, True
        self.heads = self.key_heads * self.group


class Step:
    def __init__(self, folder, shape):
        self.shape = shape
        self.linear, self.attention = Linear(folder), Attention(folder)
        module = Module(f"{folder}/rows.sm_90a.cubin")
        suffix = NAMES[shape.dtype]
        self.norm, self.rope, self.gated, self.embed = [
            module.kernel(f"{name}_{suffix}") for name in ("norm", "rope_append", "gated", "embed")]
        torch.manual_seed(3)
        self.table, self.packed_table = self.weight(shape.vocabulary, shape.width)
        self.output = self.packed_table if not shape.gated else self.weight(shape.vocabulary, shape.width)[1]
        projected = (shape.heads + 2 * shape.key_heads) * shape.size
        inner = shape.inner * (2 if shape.gated else 1)
        self.layers = [
            dict(qkv=self.weight(projected, shape.width), o=self.weight(shape.width, shape.heads * shape.size),
                 up=self.weight(inner, shape.width), down=self.weight(shape.width, shape.inner),
                 bias=[None if shape.gated else torch.randn(n, device="cuda") * 0.1 for n in (projected, shape.width, inner, shape.width)])
            for _ in range(shape.layers)]
        self.norm_weight = torch.rand(shape.width, device="cuda") + 0.5
        self.norm_bias = None if shape.gated else torch.randn(shape.width, device="cuda") * 0.1
        self.frequencies = 500000.0 ** (-torch.arange(0, shape.size // 2, device="cuda") * 2 / shape.size)

    def weight(self, outputs, columns):
        plain = (torch.randn(outputs, columns, device="cuda") * columns**-0.5).to(self.shape.dtype)
        packed = self.linear.pack(plain)
        return (plain if self.shape.layers < 20 else None), packed

    def prepare(self, contexts):
        s = self.shape
        rows = len(contexts)
        batch = Batch(contexts, [1] * rows, s.key_heads, s.group, s.size, s.dtype, fill=False)
        caches = [torch.randn_like(batch.cache) * 0.5 for _ in range(s.layers)]
        projected = (s.heads + 2 * s.key_heads) * s.size
        new = lambda columns, dtype=s.dtype: torch.empty(rows, columns, device="cuda", dtype=dtype)
        all_rows = new(projected)
        return dict(fresh=Fresh(batch, all_rows, rope=s.gated), batch=batch, caches=caches, ids=torch.randint(0, s.vocabulary, (rows,), device="cuda", dtype=torch.int32), hidden=new(s.width),
                    normed=new(s.width), projected=all_rows, attended=new(s.heads * s.size), inner=new(s.inner * (2 if s.gated else 1)),
                    logits=new(s.vocabulary, torch.float32))

    def forward(self, state, fused=True):
        s, batch = self.shape, state["batch"]
        rows = batch.rows
        fresh = state["fresh"]
        hidden, normed, projected, inner = state["hidden"], state["normed"], state["projected"], state["inner"]

        def norm():
            threads = min(1024, -(-s.width // 256) * 32)
            self.norm((rows, 1, 1), (threads, 1, 1), [hidden, long(s.width), int(not s.gated), self.norm_weight, 0.0, self.norm_bias, 1e-5,
                                                      normed, long(s.width), s.width], programmatic=True)

        def linear(x, packed, out, outputs, **options):
            self.linear.run(packed, x, out, outputs, pdl=True, **options)

        norm_arguments = NormArguments(not s.gated, self.norm_weight.data_ptr(), 0.0, None if s.gated else self.norm_bias.data_ptr(), 1e-5)

        def normed_linear(packed, out, outputs, **options):
            if fused and rows <= NORM_ROWS and s.width <= NORM_COLUMNS:
                self.linear.run_normed(packed, hidden, norm_arguments, out, outputs, pdl=True, **options)
            else:
                norm()
                linear(normed, packed, out, outputs, **options)

        self.embed((-(-s.width // 1024), rows, 1), (128, 1, 1), [self.packed_table, s.vocabulary, state["ids"], 1.0, 0, hidden, long(s.width), s.width])
        parts = max(1, min(8, 200 // (rows * s.key_heads)))
        for layer, cache in zip(self.layers, state["caches"]):
            normed_linear(layer["qkv"][1], projected, projected.shape[1], bias=layer["bias"][0])
            batch.query, batch.cache = fresh.query, cache
            pairs = rows * s.key_heads
            if fused and self.attention.is_decode_warp(batch) and WARP_APPEND_PAIRS[0] <= pairs <= WARP_APPEND_PAIRS[1]:
                self.attention.decode_warp(batch, state["attended"], fresh, True)
            elif fused and rows * s.key_heads * s.size <= MOST_FRESH_NUMBERS:
                self.attention.decode_append(batch, fresh, state["attended"], parts, True, True)
            else:
                self.attention.append(batch, fresh, True)
                if self.attention.is_decode_warp(batch):
                    self.attention.decode_warp(batch, state["attended"], None, True)
                else:
                    self.attention.decode(batch, state["attended"], parts, True, True)
            linear(state["attended"], layer["o"][1], hidden, s.width, bias=layer["bias"][1], flags=1)
            if s.gated and fused and rows <= 64:
                norm()
                tokens = 8 if rows <= 8 else 16 if rows <= 16 else 32 if rows <= 32 else 64
                self.linear.run_gated_few(layer["up"][1], normed, inner[:, : s.inner], s.inner, tokens, pdl=True)
                linear(inner[:, : s.inner], layer["down"][1], hidden, s.width, flags=1)
            elif s.gated and fused and rows >= 256:
                norm()
                self.linear.run_gated(layer["up"][1], normed, inner[:, : s.inner], s.inner, 256 if rows > 600 else 128, pdl=True)
                linear(inner[:, : s.inner], layer["down"][1], hidden, s.width, flags=1)
            elif s.gated:
                normed_linear(layer["up"][1], inner, inner.shape[1])
                self.gated((-(-s.inner // 1024), rows, 1), (128, 1, 1),
                           [inner, long(2 * s.inner), inner[:, s.inner :], long(2 * s.inner), SILU, float("inf"), float("inf"), 0.0, inner, long(2 * s.inner), s.inner],
                           programmatic=True)
                linear(inner[:, : s.inner], layer["down"][1], hidden, s.width, flags=1)
            else:
                normed_linear(layer["up"][1], inner, s.inner, bias=layer["bias"][2], activation=GELU_TANH)
                linear(inner, layer["down"][1], hidden, s.width, bias=layer["bias"][3], flags=1)
        norm()
        linear(normed, self.output, state["logits"], s.vocabulary)

    def exact(self, state):
        """The logits of GPT-2's shape, in float32 with float64 sums; caches hold what the kernels appended."""
        s, batch = self.shape, state["batch"]
        hidden = self.table[state["ids"].long()].double()

        def norm(x):
            return torch.nn.functional.layer_norm(x, (s.width,), self.norm_weight.double(), self.norm_bias.double(), 1e-5)

        for layer, cache in zip(self.layers, state["caches"]):
            projected = norm(hidden) @ layer["qkv"][0].double().T + layer["bias"][0].double()
            attended = torch.empty(batch.rows, s.heads, s.size, device="cuda", dtype=torch.float64)
            for r, context in enumerate(batch.contexts):
                pages = cache[batch.table[r, : -(-context // 16)].long()].double().permute(1, 2, 0, 3, 4).reshape(2, s.key_heads, -1, s.size)[:, :, :context]
                scores = torch.einsum("hd,hpd->hp", projected[r, : s.width].view(s.heads, s.size), pages[0]) * s.size**-0.5
                attended[r] = torch.einsum("hp,hpd->hd", scores.softmax(1), pages[1])
            hidden = hidden + attended.view(batch.rows, -1) @ layer["o"][0].double().T + layer["bias"][1].double()
            inner = torch.nn.functional.gelu(norm(hidden) @ layer["up"][0].double().T + layer["bias"][2].double(), approximate="tanh")
            hidden = hidden + inner @ layer["down"][0].double().T + layer["bias"][3].double()
        return norm(hidden) @ self.table.double().T


def run(folder, name, batches, context):
    step = Step(folder, Shape(name))
    check = step.prepare([context, 17, 128, 129, 1])
    step.forward(check)
    torch.cuda.synchronize()
    if name == "gpt2":
        exact = step.exact(check)
        print(name, "relative error of logits", ((check["logits"].double() - exact).norm() / exact.norm()).item())
    alone = step.prepare([context])
    alone["ids"][:] = check["ids"][:1]
    used = -(-context // 16)
    for mine, theirs in zip(alone["caches"], check["caches"]):
        mine[alone["batch"].table[0, :used].long()] = theirs[check["batch"].table[0, :used].long()]
    step.forward(alone)
    print(name, "same bits alone and in a batch:", torch.equal(alone["logits"][0], check["logits"][0]), flush=True)
    caches = [cache.clone() for cache in check["caches"]]
    fused = check["logits"].clone()
    step.forward(check, fused=False)
    same = torch.equal(fused, check["logits"]) and all(torch.equal(a, b) for a, b in zip(caches, check["caches"]))
    print(name, "same bits with norm and append in kernels of their own:", same, flush=True)
    many = step.prepare([context] * 100)
    for target, source in zip(many["caches"], alone["caches"]):
        target[many["batch"].table[7, :used].long()] = source[alone["batch"].table[0, :used].long()]
    many["ids"][7] = alone["ids"][0]
    step.forward(many)
    print(name, "same bits alone and among 100:", torch.equal(many["logits"][7], alone["logits"][0]), flush=True)
    del check, alone, many, caches
    for rows in batches:
        for fused in (False, True):
            state = step.prepare([context] * rows)
            step.forward(state, fused)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                step.forward(state, fused)
            times = []
            for _ in range(30):
                start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                start.record()
                graph.replay()
                end.record()
                torch.cuda.synchronize()
                times.append(start.elapsed_time(end) * 1e3)
            print(f"{name} decode step, {rows} rows, {'fused' if fused else 'apart'}, context {context}: median {sorted(times)[15]:.0f} us, best {min(times):.0f}", flush=True)
            del state, graph


def main():
    for name in sys.argv[2:]:
        if name == "gpt2":
            run(sys.argv[1], name, (1, 8, 32, 128), 300)
        elif name == "llama1b":
            run(sys.argv[1], name, (1, 8, 32, 128), 96)
        else:
            run(sys.argv[1], name, (1, 8, 64, 256), 1024)


if __name__ == "__main__":
    main()
