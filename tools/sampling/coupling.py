#!/usr/bin/env python3
"""How often two models draw the same token from the same random numbers, for several rules of drawing.

    python -m venv venv && venv/bin/pip install numpy gguf tokenizers
    venv/bin/python tools/sampling/coupling.py demo > demo.csv
    venv/bin/python tools/sampling/coupling.py gguf MODEL.gguf EXIT,EXIT... > model.csv
    venv/bin/python tools/sampling/coupling.py zipf > zipf.csv

Nothing is drawn: every figure is an exact probability, averaged over positions. README.md says what the columns are.
"""
import csv
import json
import pathlib
import sys

import numpy as np
from gguf import GGUFReader, dequantize

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEMO = ROOT / "roselle-hub/src/main/resources/roselle/demo/demo.gguf"
DEMO_TESTS = ROOT / "roselle-engine/src/test/resources/demo-model"
SETTINGS = [(t, k, p) for t in (0.5, 0.7, 1.0) for k, p in ((0, 1.0), (40, 1.0), (0, 0.9), (40, 0.9))]
COLUMNS = ["target", "draft", "temperature", "top_k", "top_p", "positions", "bound", "lower_bound", "noise", "by_id", "by_rank", "greedy_draft", "independent"]


class Llama:
    """A Llama decoder of a GGUF file in float32, whose layers after any can be left out."""

    def __init__(self, path):
        reader = GGUFReader(path)
        self.fields = {name: field.contents() for name, field in reader.fields.items()}
        self.weights = {t.name: np.asarray(dequantize(t.data, t.tensor_type), dtype=np.float32) for t in reader.tensors}
        of = lambda name: self.fields["llama." + name]
        self.layers, self.heads, self.kv_heads = of("block_count"), of("attention.head_count"), of("attention.head_count_kv")
        self.epsilon, self.base = of("attention.layer_norm_rms_epsilon"), of("rope.freq_base")
        self.head_dim = of("embedding_length") // self.heads

    def coarse(self, bits):
        """The same model, its matrices rounded to so many bits, symmetric, with a scale for 32 numbers."""
        other = object.__new__(Llama)
        other.__dict__ = dict(self.__dict__)
        other.weights = {name: rounded(w, bits) if w.ndim == 2 else w for name, w in self.weights.items()}
        return other

    def norm(self, x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.epsilon) * self.weights[name]

    def rope(self, x, first):  # [tokens, heads, head_dim], neighbours rotated together
        positions = np.arange(first, first + len(x))
        angles = positions[:, None] * self.base ** (-np.arange(0, self.head_dim, 2) / self.head_dim)
        cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
        a, b = x[..., 0::2], x[..., 1::2]
        return np.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape).astype(np.float32)

    def forward(self, ids, cache=None, exits=()):
        """Logits of all ids; with exits also those after so many layers. A cache is a list that grows by what was read."""
        w, cache = self.weights, [None] * self.layers if cache is None else cache
        first = 0 if cache[0] is None else len(cache[0][0])
        x, early = w["token_embd.weight"][ids], {}
        for layer in range(self.layers):
            name = f"blk.{layer}."
            h = self.norm(x, name + "attn_norm.weight")
            q, k, v = ((h @ w[name + f"attn_{part}.weight"].T).reshape(len(ids), -1, self.head_dim) for part in "qkv")
            q, k = self.rope(q, first), self.rope(k, first)
            if cache[layer] is not None:
                k, v = np.concatenate([cache[layer][0], k]), np.concatenate([cache[layer][1], v])
            cache[layer] = (k, v)
            k, v = (np.repeat(part, self.heads // self.kv_heads, 1) for part in (k, v))
            scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(self.head_dim)
            visible = np.arange(len(k))[None] <= np.arange(first, first + len(ids))[:, None]
            scores = np.where(visible, scores, -np.inf)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            heads = np.einsum("hqk,khd->qhd", scores / scores.sum(-1, keepdims=True), v)
            x = x + heads.reshape(len(ids), -1) @ w[name + "attn_output.weight"].T
            h = self.norm(x, name + "ffn_norm.weight")
            gate = h @ w[name + "ffn_gate.weight"].T
            x = x + (gate / (1 + np.exp(-gate)) * (h @ w[name + "ffn_up.weight"].T)) @ w[name + "ffn_down.weight"].T
            if layer + 1 in exits:
                early[layer + 1] = self.logits(x)
        return self.logits(x), early

    def logits(self, x):
        return self.norm(x, "output_norm.weight") @ self.weights.get("output.weight", self.weights["token_embd.weight"]).T


def rounded(w, bits):
    blocks = w.reshape(-1, 32)
    scale = np.abs(blocks).max(1, keepdims=True) / (2 ** (bits - 1) - 0.5)
    return (np.round(blocks / np.where(scale == 0, 1, scale)) * scale).reshape(w.shape).astype(np.float32)


def ranked(logits):
    """Ids from the likeliest down; of equal ones the lower id first."""
    return np.argsort(-logits, kind="stable")


def probabilities(logits, order, temperature, top_k, top_p):
    """As roselle.sampling.Candidates narrows them, of one position."""
    x = logits.astype(np.float64)
    p = np.exp((x - x[order[0]]) / temperature)
    if top_k:
        p[order[top_k:]] = 0
    if top_p < 1:
        sums = np.cumsum(p[order])
        p[order[1:][sums[:-1] >= top_p * sums[-1]]] = 0
    return p / p.sum()


def overlap(p, q):
    """P(equal) when one uniform number runs through both sums in the order that the arrays have."""
    cp, cq = np.cumsum(p), np.cumsum(q)
    return np.maximum(np.minimum(cp, cq) - np.maximum(cp - p, cq - q), 0).sum()


def by_rank(p, q, orders):
    """The same where each walks from its likeliest token down: equal where the intervals of the same token meet."""
    ends, starts = [], []
    for x, order in zip((p, q), orders):
        end = np.empty_like(x)
        end[order] = np.cumsum(x[order])
        ends.append(end)
        starts.append(end - x)
    return np.maximum(np.minimum(*ends) - np.maximum(*starts), 0).sum()


def noise(p, q):
    """P(equal) of the least E[i] / p[i] and the least E[i] / q[i], E independent exponentials: sum over i of
    1 / sum over j of max(p[j] / p[i], q[j] / q[i]), where j counts by p if p[j] / q[j] >= p[i] / q[i]."""
    both = (p > 0) & (q > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(q > 0, p / q, np.where(p > 0, np.inf, np.nan))
    used = ~np.isnan(ratio)
    p, q, ratio, both = p[used], q[used], ratio[used], both[used]
    order = np.argsort(ratio, kind="stable")
    p, q, both = p[order], q[order], both[order]
    q_before = np.cumsum(q) - q
    p_from = np.cumsum(p[::-1])[::-1]
    return (1 / (p_from[both] / p[both] + q_before[both] / q[both])).sum()


def compare(pair, orders, setting):
    p, q = (probabilities(x, order, *setting) for x, order in zip(pair, orders))
    bound = np.minimum(p, q).sum()
    return [bound, bound / (2 - bound), noise(p, q), overlap(p, q), by_rank(p, q, orders), p[orders[1][0]], (p * q).sum()]


def write(out, target, draft, pairs):
    """A row for each setting: the means over positions."""
    orders = [[ranked(x) for x in pair] for pair in pairs]
    for setting in SETTINGS:
        means = np.mean([compare(pair, order, setting) for pair, order in zip(pairs, orders)], 0)
        out.writerow([target, draft, *setting, len(pairs)] + ["%.4f" % x for x in means])
        sys.stdout.flush()


def thin(pairs, most):
    """At most so many of the positions, evenly spaced."""
    return [pairs[i] for i in np.linspace(0, len(pairs) - 1, min(most, len(pairs))).astype(int)]


def demo(out):
    """The positions of conversations held out of its training at which the demo model speaks."""
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(DEMO_TESTS / "tokenizer.json"))
    model, exits = Llama(DEMO), (7, 6, 5)
    drafts = {f"{bits} bits": model.coarse(bits) for bits in (4, 3, 2)}
    pairs = {}
    for conversation in json.loads((DEMO_TESTS / "held-out.json").read_text()):
        ids, spoken = [], []
        for text, is_answer in conversation:
            part = tokenizer.encode(text, add_special_tokens=False).ids
            ids += part
            spoken += [is_answer] * len(part)
        at = np.flatnonzero(spoken[1:])
        logits, early = model.forward(ids, exits=exits)
        answers = {f"first {n} of 8 layers": x for n, x in early.items()} | {n: m.forward(ids)[0] for n, m in drafts.items()}
        for name, other in answers.items():
            pairs.setdefault(name, []).extend((logits[i], other[i]) for i in at)
    for name, some in pairs.items():
        write(out, "demo 7.3M", name, thin(some, 1000))


PROMPTS = ["Write a short story about a lighthouse.", "Explain how a bicycle stays upright.", "Give me a recipe for bread.",
           "Write a Python function that reverses a string."]


def gguf(out, path, exits):
    """Positions of answers that the model itself draws at temperature 1."""
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers
    model = Llama(path)
    pieces, merges = model.fields["tokenizer.ggml.tokens"], model.fields["tokenizer.ggml.merges"]
    tokenizer = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)}, [tuple(m.split(" ")) for m in merges]))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(False)])
    tokenizer.add_special_tokens([AddedToken(s, special=True) for s in ("<|im_start|>", "<|im_end|>")])
    end = pieces.index("<|im_end|>")
    random = np.random.default_rng(1)
    coarse = {f"{bits} bits": model.coarse(bits) for bits in (3, 2)}
    pairs = {}
    for prompt in PROMPTS:
        ids = tokenizer.encode(f"<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n").ids
        start, cache, logits = len(ids), [None] * model.layers, None
        fresh = ids
        while len(ids) < start + 64 and ids[-1] != end:
            logits = model.forward(fresh, cache)[0][-1]
            fresh = [int(random.choice(len(logits), p=probabilities(logits, ranked(logits), 1.0, 0, 1.0)))]
            ids = ids + fresh
        print(tokenizer.decode(ids[start:])[:200].replace("\n", " "), file=sys.stderr)
        logits, early = model.forward(ids[:-1], exits=exits)
        answers = {f"first {n} of {model.layers} layers": x for n, x in early.items()} | {n: m.forward(ids[:-1])[0] for n, m in coarse.items()}
        for name, other in answers.items():
            pairs.setdefault(name, []).extend((logits[i], other[i]) for i in range(start - 1, len(ids) - 1))
    for name, some in pairs.items():
        write(out, model.fields["general.basename"] + " " + model.fields["general.size_label"], name, thin(some, 160))


def zipf(out):
    """p falls as 1 / rank, ids in random order; q is p with noise on its logits, as much as gives a mean 1 - TV."""
    for vocabulary, positions in ((2048, 200), (32000, 40)):
        for wanted in (0.9, 0.7, 0.5, 0.3):
            low, high = 0.0, 8.0
            for _ in range(20):
                middle = (low + high) / 2
                pairs = zipf_pairs(vocabulary, positions, middle)
                means = np.mean([np.minimum(*(probabilities(x, ranked(x), 1.0, 0, 1.0) for x in pair)).sum() for pair in pairs])
                low, high = (middle, high) if means > wanted else (low, middle)
            write(out, f"zipf {vocabulary}", f"1-TV {wanted} at temperature 1", pairs)


def zipf_pairs(vocabulary, positions, spread):
    random = np.random.default_rng(7)
    pairs = []
    for _ in range(positions):
        x = -np.log(random.permutation(vocabulary) + 1.0) * 1.2
        pairs.append((x, x + spread * random.standard_normal(vocabulary)))
    return pairs


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    if sys.argv[1] == "gguf":
        gguf(out, sys.argv[2], [int(n) for n in sys.argv[3].split(",")])
    else:
        {"demo": demo, "zipf": zipf}[sys.argv[1]](out)


if __name__ == "__main__":
    main()
