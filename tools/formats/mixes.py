#!/usr/bin/env python3
"""Asks llama-quantize for the types of tensors in each mix.

usage: mixes.py LLAMA-QUANTIZE OUT.txt     (needs numpy and gguf)

A line is a model, a mix, and the type of each tensor, in the order of the line that names them; models are of zeros.
"""
import subprocess
import sys
import tempfile

import gguf
import numpy as np

MODELS = {"dense": (16, 8, 2, 0, True), "shared": (24, 4, 4, 0, False), "experts": (8, 8, 4, 8, True)}
MIXES = (
    "F32 F16 BF16 Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 Q2_K Q3_K_S Q3_K_M Q3_K_L Q4_K_S Q4_K_M Q5_K_S Q5_K_M Q6_K IQ4_NL IQ4_XS TQ1_0 TQ2_0 MXFP4_MOE"
).split()


def model(path, layers, heads, keys, experts, has_output):
    out = gguf.GGUFWriter(path, "llama")
    out.add_block_count(layers)
    out.add_context_length(128)
    out.add_embedding_length(256)
    out.add_feed_forward_length(256)
    out.add_head_count(heads)
    out.add_head_count_kv(keys)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_vocab_size(32)
    if experts:
        out.add_expert_count(experts)
        out.add_expert_used_count(2)

    def add(name, *shape):
        out.add_tensor(name, np.zeros(shape, np.float32))

    add("token_embd.weight", 32, 256)
    for i in range(layers):
        add(f"blk.{i}.attn_norm.weight", 256)
        add(f"blk.{i}.attn_q.weight", 256, 256)
        add(f"blk.{i}.attn_k.weight", 256 // heads * keys, 256)
        add(f"blk.{i}.attn_v.weight", 256 // heads * keys, 256)
        add(f"blk.{i}.attn_output.weight", 256, 256)
        add(f"blk.{i}.ffn_norm.weight", 256)
        if experts:
            add(f"blk.{i}.ffn_gate_inp.weight", experts, 256)
            for part in ("gate", "up", "down"):
                add(f"blk.{i}.ffn_{part}_exps.weight", experts, 256, 256)
        else:
            for part in ("gate", "up", "down"):
                add(f"blk.{i}.ffn_{part}.weight", 256, 256)
    add("output_norm.weight", 256)
    if has_output:
        add("output.weight", 32, 256)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def main():
    with tempfile.TemporaryDirectory() as folder, open(sys.argv[2], "w") as out:
        for name, facts in MODELS.items():
            model(f"{folder}/in.gguf", *facts)
            tensors = [tensor.name for tensor in gguf.GGUFReader(f"{folder}/in.gguf").tensors]
            out.write(f"{name} names {' '.join(tensors)}\n")
            for mix in MIXES:
                subprocess.run([sys.argv[1], f"{folder}/in.gguf", f"{folder}/out.gguf", mix], check=True, capture_output=True)
                types = {tensor.name: tensor.tensor_type.name for tensor in gguf.GGUFReader(f"{folder}/out.gguf").tensors}
                out.write(f"{name} {mix} {' '.join(types[tensor] for tensor in tensors)}\n")


main()
