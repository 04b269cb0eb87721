#!/usr/bin/env python3
"""Writes a GGUF of Llama-3.1-8B's shape with random weights in a type of GGUF or a mix of them, without a tokenizer: to time it.

    random_gguf.py TYPE FILE [LAYERS]    TYPE: Q4_K_M (as llama-quantize mixes), or one type: Q8_0, Q4_0, Q4_K, Q5_K, Q6_K

Needs numpy alone.
"""

import struct
import sys

import numpy

TYPES = {"F32": (0, 1, 4, ()), "Q4_0": (2, 32, 18, (0,)), "Q8_0": (8, 32, 34, (0,)), "Q4_K": (12, 256, 144, (0, 2)), "Q5_K": (13, 256, 176, (0, 2)),
         "Q6_K": (14, 256, 210, (208,))}  # number, numbers of a block, its bytes, where its halves are
WIDTH, INNER, HEADS, KEYS, SIZE, VOCABULARY = 4096, 14336, 32, 8, 128, 128256
PERIOD = 1 << 14  # blocks, after which they repeat


def more_bits(layer, layers):
    """Whether llama-quantize gives values and the second product of a layer more bits."""
    return layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2


def tensors(mix, layers):
    plain, better = ("Q4_K", "Q6_K") if mix == "Q4_K_M" else (mix, mix)
    yield "token_embd.weight", plain, (VOCABULARY, WIDTH)
    for layer in range(layers):
        more = better if more_bits(layer, layers) else plain
        for name, kind, shape in (
            ("attn_norm", "F32", (WIDTH,)), ("attn_q", plain, (WIDTH, WIDTH)), ("attn_k", plain, (KEYS * SIZE, WIDTH)),
            ("attn_v", more, (KEYS * SIZE, WIDTH)), ("attn_output", plain, (WIDTH, WIDTH)), ("ffn_norm", "F32", (WIDTH,)),
            ("ffn_gate", plain, (INNER, WIDTH)), ("ffn_up", plain, (INNER, WIDTH)), ("ffn_down", more, (WIDTH, INNER))):
            yield f"blk.{layer}.{name}.weight", kind, shape
    yield "output_norm.weight", "F32", (WIDTH,)
    yield "output.weight", better, (VOCABULARY, WIDTH)


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def entry(key, value):
    if isinstance(value, str):
        return text(key) + struct.pack("<I", 8) + text(value)
    return text(key) + (struct.pack("<If", 6, value) if isinstance(value, float) else struct.pack("<II", 4, value))


def period(kind):
    """Blocks of random codes and small scales."""
    _, numbers, size, halves = TYPES[kind]
    if kind == "F32":
        return numpy.ones(PERIOD, numpy.float32).view(numpy.uint8)
    random = numpy.random.default_rng(1)
    data = random.integers(0, 256, (PERIOD, size), dtype=numpy.uint8)
    for at in halves:
        scales = (random.standard_normal(PERIOD) * 1e-4).astype(numpy.float16)
        data[:, at : at + 2] = scales.view(numpy.uint8).reshape(-1, 2)
    return data.reshape(-1)


def main(mix, path, layers=32):
    layers = int(layers)
    metadata = {"general.architecture": "llama", "llama.block_count": layers, "llama.context_length": 131072, "llama.embedding_length": WIDTH,
                "llama.feed_forward_length": INNER, "llama.attention.head_count": HEADS, "llama.attention.head_count_kv": KEYS,
                "llama.rope.dimension_count": SIZE, "llama.rope.freq_base": 500000.0, "llama.vocab_size": VOCABULARY,
                "llama.attention.layer_norm_rms_epsilon": 1e-5}
    infos, at, sizes = b"", 0, []
    for name, kind, shape in tensors(mix, layers):
        number, numbers, size, _ = TYPES[kind]
        count = int(numpy.prod(shape)) // numbers * size
        infos += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in reversed(shape)) + struct.pack("<IQ", number, at)
        sizes.append((kind, count))
        at += -(-count // 32) * 32
    head = b"GGUF" + struct.pack("<IQQ", 3, len(sizes), len(metadata)) + b"".join(entry(*one) for one in metadata.items()) + infos
    periods = {kind: period(kind) for kind in {kind for kind, _ in sizes}}
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % 32))
        for kind, count in sizes:
            whole, rest = divmod(count, periods[kind].size)
            for _ in range(whole):
                file.write(periods[kind].data)
            file.write(periods[kind][:rest].data)
            file.write(bytes(-count % 32))


if __name__ == "__main__":
    main(*sys.argv[1:])
