#!/usr/bin/env python3
"""Writes numbers with the blocks that the gguf package and ggml make of them.

usage: encoded.py LIBGGML-BASE.so OUT.safetensors     (needs numpy and gguf; the same seed gives the same file)

"numbers" [16, 512] and "importance" [512] are F32. For each type T, "T.blocks" (U8) are those of ggml_quantize_chunk without an
importance, or, of the types that it encodes bit for bit, of the gguf package; "T.weighted" are ggml's with the importance.
"""
import ctypes
import json
import struct
import sys

import gguf
import numpy as np
from gguf.constants import GGMLQuantizationType as Q

EXACT = ["F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "TQ1_0", "TQ2_0", "MXFP4"]
BY_GGML = ["NVFP4", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS"]
WEIGHTED = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS"]


def main():
    ggml = ctypes.CDLL(sys.argv[1])
    ggml.ggml_quantize_chunk.restype = ctypes.c_size_t
    pointer = ctypes.c_void_p
    ggml.ggml_quantize_chunk.argtypes = [ctypes.c_int, pointer, pointer] + [ctypes.c_int64] * 3 + [pointer]
    rng = np.random.default_rng(20261123)
    numbers = (rng.standard_t(5, (16, 512)) * 0.02).astype(np.float32)
    numbers[3] *= 30
    numbers[4, ::97] *= 12
    numbers[5] = np.abs(numbers[5])
    numbers[6] = -np.abs(numbers[6])
    numbers[7, :256] = 0
    numbers[7, 256:288] = 0.25
    numbers[8] *= 0.1
    importance = (rng.chisquare(1, 512) * np.where(rng.random(512) < 0.03, 50, 1)).astype(np.float32)

    def by_ggml(name, weights):
        blocks = np.zeros(numbers.size * 4, np.uint8)
        size = ggml.ggml_quantize_chunk(
            int(Q[name]), numbers.ctypes.data, blocks.ctypes.data, 0, *numbers.shape, None if weights is None else weights.ctypes.data
        )
        return blocks[:size]

    tensors = {"numbers": numbers, "importance": importance}
    tensors |= {f"{name}.blocks": gguf.quants.quantize(numbers, Q[name]).view(np.uint8).ravel() for name in EXACT}
    tensors |= {f"{name}.blocks": by_ggml(name, None) for name in BY_GGML}
    tensors |= {f"{name}.weighted": by_ggml(name, importance) for name in WEIGHTED}
    header, data = {}, b""
    for name, array in tensors.items():
        raw = array.tobytes()
        kind = "U8" if array.dtype == np.uint8 else "F32"
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(sys.argv[2], "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)
    print(f"{sys.argv[2]}: {8 + len(text) + len(data)} bytes, {len(tensors)} tensors")


main()
