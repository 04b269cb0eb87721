"""A whole prompt of Llama-8B's shape from the kernels alone: prompt.py DIR ROWS ..., with the cubins of compile.py in DIR.

One CUDA graph from token ids to the last row's logits; the same graph less one kind of kernel, which tells what that kind takes
while the others run, too; and that kind alone, at another clock.
"""

import statistics
import sys

import torch

from attention import Batch, Fresh
from driver import long
from step import Shape, Step

PARTS = ("norm", "qkv", "append", "attention", "o", "up", "down")


def forward(step, state, without=()):
    s, batch, fresh = step.shape, state["batch"], state["fresh"]
    rows = batch.rows
    hidden, normed, projected, attended, gates = [state[name] for name in ("hidden", "normed", "projected", "attended", "gates")]

    def norm():
        if "norm" not in without:
            step.norm((rows, 1, 1), (512, 1, 1), [hidden, long(s.width), 0, step.norm_weight, 0.0, None, 1e-5, normed, long(s.width), s.width],
                      programmatic=True)

    def linear(part, x, packed, out, **options):
        if part not in without:
            kind = step.linear.choose_prompt(rows, out.shape[1], x.shape[1])
            step.linear.run(packed, x, out, out.shape[1], kind=kind, pdl=True, **options)

    step.embed((-(-s.width // 1024), rows, 1), (128, 1, 1), [step.packed_table, s.vocabulary, state["ids"], 1.0, 0, hidden, long(s.width), s.width])
    for layer in step.layers:
        norm()
        linear("qkv", normed, layer["qkv"][1], projected)
        if "append" not in without:
            step.attention.append(batch, fresh, True)
        if "attention" not in without:
            step.attention.prefill_hopper(batch, attended, True)
        linear("o", attended, layer["o"][1], hidden, flags=1)
        norm()
        if "up" not in without:
            step.linear.run_gated(layer["up"][1], normed, gates, s.inner, 256 if rows > 600 else 128, pdl=True)
        linear("down", gates, layer["down"][1], hidden, flags=1)
    step.norm((1, 1, 1), (512, 1, 1), [hidden[-1:], long(s.width), 0, step.norm_weight, 0.0, None, 1e-5, normed, long(s.width), s.width],
              programmatic=True)
    step.linear.run(step.output, normed[:1], state["logits"], s.vocabulary, pdl=True)


def milliseconds(run, repeats):
    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    times = []
    for _ in range(repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times[repeats // 3 :])


def main():
    step = Step(sys.argv[1], Shape("llama"))
    s = step.shape
    for rows in map(int, sys.argv[2:]):
        batch = Batch([rows], [rows], s.key_heads, s.group, s.size, s.dtype, fill=False)
        new = lambda columns, count=rows: torch.randn(count, columns, device="cuda").to(s.dtype)
        projected = new((s.heads + 2 * s.key_heads) * s.size)
        fresh = Fresh(batch, projected)
        batch.query = fresh.query
        state = dict(batch=batch, fresh=fresh, ids=torch.randint(0, s.vocabulary, (rows,), device="cuda", dtype=torch.int32),
                     hidden=new(s.width), normed=new(s.width), projected=projected, attended=new(s.heads * s.size), gates=new(s.inner),
                     logits=torch.empty(1, s.vocabulary, device="cuda"))
        repeats = 12 if rows > 4000 else 30
        whole = milliseconds(lambda: forward(step, state), repeats)
        print(f"a prompt of {rows}: {whole:.2f} ms", end="")
        for part in PARTS:
            less = milliseconds(lambda: forward(step, state, (part,)), repeats)
            alone = milliseconds(lambda: forward(step, state, [other for other in PARTS if other != part]), repeats)
            print(f" | {part} {whole - less:.2f}, alone {alone:.2f}", end="", flush=True)
        print(f" | again {milliseconds(lambda: forward(step, state), repeats):.2f} ms", flush=True)
        del state, batch, fresh


if __name__ == "__main__":
    main()
