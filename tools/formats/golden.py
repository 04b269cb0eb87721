#!/usr/bin/env python3
"""Writes random blocks of every data type with the floats that the gguf package's reference makes of them.

usage: golden.py OUT.safetensors     (needs numpy, gguf 0.19.0 and ml_dtypes; the same seed gives the same file)

For each type T there are two tensors: "T.blocks" (U8, the stored bytes) and "T.values" (F32). Every field of a block
has random bits; the 16-bit scales also take each special value (NaN, infinities, zeros, subnormals, the extremes), and
one block has all bits clear and one all bits set.
"""
import json
import struct
import sys

import gguf
import ml_dtypes
import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType as Q

SEED = 20260704
SPECIAL_F16 = [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE00, 0x7C01, 0x3C00]
# where each type's block has 16-bit scales, in bytes
SCALES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0],
    "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
    "IQ4_NL": [0], "IQ4_XS": [0], "MXFP4": [],
}  # fmt: skip
LATER = {  # made after all others, whose bytes stay
    "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0], "IQ1_S": [0], "IQ1_M": [],
    "TQ1_0": [52], "TQ2_0": [64], "NVFP4": [], "Q1_0": [0], "Q2_0": [0],
}  # fmt: skip
UNKNOWN_TO_GGUF = {"Q1_0": (128, 18, 1, lambda codes: 2 * codes - 1), "Q2_0": (64, 18, 2, lambda codes: codes - 1)}
PLAIN = {
    "F32": np.float32, "F64": np.float64, "I8": np.int8, "I16": np.int16, "I32": np.int32, "I64": np.int64,
    "U8": np.uint8, "U16": np.uint16, "U32": np.uint32, "U64": np.uint64,
    "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip


def scaled_codes(blocks, each, numbers):
    """Blocks of a scale and of codes that follow each other from the lowest bit on (dequantize_row_q1_0 of ggml-quants.c)."""
    scale = np.ascontiguousarray(blocks[:, :2]).view(np.float16).astype(np.float32)
    codes = blocks[:, 2:, None] >> np.arange(0, 8, each, dtype=np.uint8) & (1 << each) - 1
    return scale * numbers(codes.reshape(len(blocks), -1).astype(np.int8)).astype(np.float32)


def quantized(name, rng):
    elements, size = UNKNOWN_TO_GGUF[name][:2] if name in UNKNOWN_TO_GGUF else GGML_QUANT_SIZES[Q[name]]
    count = (40 if elements == 256 else 64) if name in SCALES else 20
    blocks = rng.integers(0, 256, (count, size), np.uint8)
    blocks[0] = 0
    blocks[1] = 255
    for field, offset in enumerate((SCALES | LATER)[name]):
        for i, bits in enumerate(SPECIAL_F16):
            special = np.frombuffer(struct.pack("<H", bits), np.uint8)
            blocks[2 + (i * (1 + 2 * field)) % len(SPECIAL_F16), offset : offset + 2] = special
    if name == "MXFP4":
        blocks[2:10, 0] = [0, 1, 2, 3, 127, 253, 254, 255]
    if name == "NVFP4":
        blocks[2:6, :4] = [[0, 1, 7, 8], [126, 127, 128, 129], [254, 255, 9, 16], [136, 120, 64, 63]]
    if name in UNKNOWN_TO_GGUF:
        return blocks, scaled_codes(blocks, *UNKNOWN_TO_GGUF[name][2:])
    return blocks, gguf.quants.dequantize(blocks, Q[name])


def plain(name, kind, rng):
    kind = np.dtype(kind)
    if kind.itemsize == 1:
        stored = np.arange(256, dtype=np.uint8)
    else:
        stored = rng.integers(0, 256, 600 * kind.itemsize, np.uint8)
        stored[: kind.itemsize] = 0
        stored[kind.itemsize : 2 * kind.itemsize] = 255
        if name == "F64":  # most random doubles are no floats: some that are near the limits of one
            near = rng.standard_normal(300) * 10.0 ** rng.integers(-48, 40, 300)
            stored[-2400:] = np.frombuffer(near.astype(np.float64).tobytes(), np.uint8)
    return stored, stored.view(kind).astype(np.float32)


def half(name, rng):
    stored = rng.integers(0, 65536, 4000, np.uint16)
    stored[: len(SPECIAL_F16)] = SPECIAL_F16
    return stored.view(np.uint8), gguf.quants.dequantize(stored.view(np.uint8), Q[name])


def main():
    rng = np.random.default_rng(SEED)
    header, data = {}, b""
    with np.errstate(all="ignore"):
        made = {name: quantized(name, rng) for name in SCALES}
        made |= {name: plain(name, kind, rng) for name, kind in PLAIN.items()}
        made |= {name: half(name, rng) for name in ("F16", "BF16")}
        made |= {name: quantized(name, rng) for name in LATER}
    for name, (blocks, values) in made.items():
        for suffix, kind, array in (("blocks", "U8", blocks), ("values", "F32", values.astype(np.float32))):
            raw = array.tobytes()
            header[f"{name}.{suffix}"] = {"dtype": kind, "shape": [array.size], "data_offsets": [len(data), len(data) + len(raw)]}
            data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(sys.argv[1], "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)
    print(f"{sys.argv[1]}: {8 + len(text) + len(data)} bytes, {len(made)} types")


main()
