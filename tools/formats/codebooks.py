#!/usr/bin/env python3
"""Writes the vectors of ggml's IQ types as the gguf package has them: 2 bits for each number, 4 where a codebook has eight.

usage: codebooks.py OUT.bin     (needs gguf 0.19.0; roselle.tensor.Codebook reads it)
"""
import sys

from gguf.quants import IQ1_S, IQ2_S, IQ2_XS, IQ2_XXS, IQ3_S, IQ3_XXS

with open(sys.argv[1], "wb") as out:
    for kind in (IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S, IQ1_S):
        out.write(bytes.fromhex(kind.grid_hex.decode()))
