"""What a hop costs: all blocks of a GPU hand one another a vector and go on, as the parts of a persistent step would.

    hop.py DIR

DIR holds hop's cubin of compile.py. Words of 32 bits and their hop in one store (NCCL's LL), a counter, and a chain of kernels that
are launched programmatically; then LL while each thread of 256 reads 64 or 128 bytes of weights a hop (2.2 and 4.3 MB in all). The vector is GPT-2's row (384 words of two 16-bit numbers), Llama-3.1-8B's (2,048), its gated one
(7,168), and four and eight rows of these. Every block's sum of the last hop is checked.
"""

import sys

import torch

from driver import Module, time_graph

HOPS = 1000
BLOCKS = 132


def expected(count, hops):
    """The sum that each block has after the last hop: a hop's words are the sums of the one before, plus their places."""
    part = -(-count // BLOCKS)
    places = count * (count - 1) // 2
    sum_ = sum(min(part, count - b * part) * b for b in range(-(-count // part))) + places
    for _ in range(hops - 1):
        sum_ = (sum_ * count + places) % 2**32
    return sum_ % 2**32


def main():
    module = Module(f"{sys.argv[1]}/hop.sm_90a.cubin")
    words, words4, words8, counted, chain = (module.kernel(f"hop_{name}") for name in ("words_0", "words_4", "words_8", "counted", "kernel"))
    weights = torch.zeros((HOPS + 1) * BLOCKS * 8 * 256 * 4, dtype=torch.int32, device="cuda")
    print("words,threads,LL us,counter us,kernels us,LL and 64 bytes us,LL and 128 bytes us")
    for count in (384, 1536, 2048, 3072, 7168, 8192, 16384):
        for threads in (128, 256, 512, 1024):
            pairs = torch.zeros(2 * count, dtype=torch.int64, device="cuda")
            values = torch.zeros(2 * count, dtype=torch.int32, device="cuda")
            counter = torch.zeros(1, dtype=torch.int32, device="cuda")
            out = torch.zeros(BLOCKS, dtype=torch.int32, device="cuda")

            def run_words(kernel=words):
                pairs.zero_()
                kernel((BLOCKS, 1, 1), (threads, 1, 1), [pairs, count, HOPS, weights, out])

            def run_counted():
                counter.zero_()
                counted((BLOCKS, 1, 1), (threads, 1, 1), [values, counter, count, HOPS, out])

            def run_chain():
                for hop in range(HOPS):
                    chain((BLOCKS, 1, 1), (threads, 1, 1), [values[(hop & 1) * count:], values[(1 - (hop & 1)) * count:], count],
                          programmatic=hop > 0)

            taken = []
            loaded = [lambda: run_words(words4), lambda: run_words(words8)] if threads == 256 else []
            for run in (run_words, run_counted, run_chain, *loaded):
                out.zero_()
                taken.append(time_graph([run], 7) * 1e6 / HOPS)
                if run is not run_chain:
                    sums = {int(v) % 2**32 for v in out.cpu()}
                    assert sums == {expected(count, HOPS)}, (run, count, sums, expected(count, HOPS))
            print(f"{count},{threads}," + ",".join(f"{t:.3f}" for t in taken), flush=True)


if __name__ == "__main__":
    main()
