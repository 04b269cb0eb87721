"""PyTorch's kernels beside ours: a decode step in one CUDA graph, and a prompt, with random weights in the real shapes.

    python torch_step.py gpt2 llama prompt

A step goes from token ids to logits with static caches of keys and values, as the fastest plain PyTorch code would do it:
torch's products (cuBLAS), its layer norm, RMS norm as torch.nn.functional has it, scaled_dot_product_attention. Medians of 30.
"""
import statistics
import sys

import torch
import torch.nn.functional as F

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def weights(kind, shape):
    return torch.randn(shape, device=DEVICE, dtype=kind) * 0.02


class Gpt2:
    """GPT-2 124M: 12 layers of 768, 12 heads of 64."""

    def __init__(self, rows, context, layers=12):
        kind = torch.float16 if DEVICE == "cuda" else torch.float32
        self.rows, self.context = rows, context
        self.words, self.places = weights(kind, (50257, 768)), weights(kind, (1024, 768))
        self.layers = [
            {
                "one": weights(kind, 768), "two": weights(kind, 768), "zero": weights(kind, 768),
                "qkv": weights(kind, (2304, 768)), "qkv_bias": weights(kind, 2304),
                "out": weights(kind, (768, 768)), "out_bias": weights(kind, 768),
                "up": weights(kind, (3072, 768)), "up_bias": weights(kind, 3072),
                "down": weights(kind, (768, 3072)), "down_bias": weights(kind, 768),
                "keys": weights(kind, (rows, 12, context, 64)), "values": weights(kind, (rows, 12, context, 64)),
            }
            for _ in range(layers)
        ]
        self.ids = torch.zeros(rows, dtype=torch.long, device=DEVICE)
        self.position = torch.full((1,), context - 1, dtype=torch.long, device=DEVICE)

    def __call__(self):
        x = self.words[self.ids] + self.places[self.position]
        for l in self.layers:
            q, k, v = F.linear(F.layer_norm(x, (768,), l["one"], l["zero"]), l["qkv"], l["qkv_bias"]).split(768, 1)
            l["keys"].index_copy_(2, self.position, k.view(self.rows, 12, 1, 64))
            l["values"].index_copy_(2, self.position, v.view(self.rows, 12, 1, 64))
            a = F.scaled_dot_product_attention(q.view(self.rows, 12, 1, 64), l["keys"], l["values"])
            x = x + F.linear(a.reshape(self.rows, 768), l["out"], l["out_bias"])
            h = F.gelu(F.linear(F.layer_norm(x, (768,), l["two"], l["zero"]), l["up"], l["up_bias"]), approximate="tanh")
            x = x + F.linear(h, l["down"], l["down_bias"])
        return F.linear(F.layer_norm(x, (768,), self.layers[0]["one"], self.layers[0]["zero"]), self.words)


class Llama:
    """Llama-3.1-8B's shape: layers of 4,096 with 32 query heads and 8 key heads of 128, 14,336 within the MLP."""

    def __init__(self, rows, context, layers=32, vocabulary=128256):
        kind = torch.bfloat16
        self.rows, self.context = rows, context
        self.words, self.logits = weights(kind, (vocabulary, 4096)), weights(kind, (vocabulary, 4096))
        self.layers = [
            {
                "one": weights(kind, 4096), "two": weights(kind, 4096),
                "qkv": weights(kind, (6144, 4096)), "out": weights(kind, (4096, 4096)),
                "up": weights(kind, (28672, 4096)), "down": weights(kind, (4096, 14336)),
                "keys": weights(kind, (rows, 8, context, 128)), "values": weights(kind, (rows, 8, context, 128)),
            }
            for _ in range(layers)
        ]
        self.ids = torch.zeros(rows, dtype=torch.long, device=DEVICE)
        self.position = torch.full((1,), context - 1, dtype=torch.long, device=DEVICE)
        angles = torch.outer(torch.arange(131072, device=DEVICE), 500000.0 ** -(torch.arange(0, 128, 2, device=DEVICE) / 128))
        angles = torch.cat((angles, angles), 1)
        self.cos, self.sin = angles.cos().to(kind), angles.sin().to(kind)

    def rope(self, x, cos, sin):
        return x * cos + torch.cat((-x[..., 64:], x[..., :64]), -1) * sin

    def mlp(self, x, l):
        gate, up = F.linear(F.rms_norm(x, (4096,), l["two"], 1e-5), l["up"]).split(14336, 1)
        return x + F.linear(F.silu(gate) * up, l["down"])

    def __call__(self):
        x = self.words[self.ids]
        cos, sin = self.cos[self.position], self.sin[self.position]
        for l in self.layers:
            q, k, v = F.linear(F.rms_norm(x, (4096,), l["one"], 1e-5), l["qkv"]).split((4096, 1024, 1024), 1)
            q, k = self.rope(q.view(self.rows, 32, 128), cos, sin), self.rope(k.view(self.rows, 8, 128), cos, sin)
            l["keys"].index_copy_(2, self.position, k.view(self.rows, 8, 1, 128))
            l["values"].index_copy_(2, self.position, v.view(self.rows, 8, 1, 128))
            a = F.scaled_dot_product_attention(q.view(self.rows, 8, 4, 128), l["keys"], l["values"])
            x = self.mlp(x + F.linear(a.reshape(self.rows, 4096), l["out"]), l)
        return F.linear(F.rms_norm(x, (4096,), self.layers[0]["one"], 1e-5), self.logits)

    def prompt(self, count):
        """All of a prompt at once, the logits of its last token."""
        x = self.words[torch.zeros(count, dtype=torch.long, device=DEVICE)]
        cos, sin = self.cos[:count], self.sin[:count]
        for l in self.layers:
            q, k, v = F.linear(F.rms_norm(x, (4096,), l["one"], 1e-5), l["qkv"]).split((4096, 1024, 1024), 1)
            q = self.rope(q.view(count, 32, 128).transpose(0, 1), cos, sin)
            k = self.rope(k.view(count, 8, 128).transpose(0, 1), cos, sin)
            l["keys"][0, :, :count], l["values"][0, :, :count] = k, v.view(count, 8, 128).transpose(0, 1)
            a = F.scaled_dot_product_attention(
                q[None], k[None], l["values"][:1, :, :count], is_causal=True, enable_gqa=True
            )
            x = self.mlp(x + F.linear(a[0].transpose(0, 1).reshape(count, 4096), l["out"]), l)
        return F.linear(F.rms_norm(x[-1:], (4096,), self.layers[0]["one"], 1e-5), self.logits)


def timed(step):
    """Milliseconds of a call of the step from a CUDA graph, median of 30."""
    torch.cuda.synchronize()  # what the step reads is there
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    times = []
    for _ in range(33):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times[3:])


@torch.inference_mode()
def main(parts):
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}", flush=True)
    if "gpt2" in parts:
        for rows in (1, 8, 32, 64, 128):
            print(f"GPT-2 124M F16, decode, context 300, {rows} rows: {timed(Gpt2(rows, 300)) * 1e3:.0f} us", flush=True)
    if "llama" in parts:
        for rows in (1, 64, 256):
            print(f"Llama-3.1-8B shape BF16, decode, context 1024, {rows} rows: {timed(Llama(rows, 1024)):.2f} ms", flush=True)
            torch.cuda.empty_cache()
    if "prompt" in parts:
        model = Llama(1, 8192)
        for count in (512, 8192):
            print(f"Llama-3.1-8B shape BF16, a prompt of {count}: {timed(lambda: model.prompt(count)):.1f} ms", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["gpt2", "llama", "prompt"])
