#!/usr/bin/env python3
"""Writes a Llama of a GGUF file as a folder in Hugging Face's format, with weights in bf16, for engines that read no GGUF.

usage: folder.py MODEL.gguf OUT_DIR      (needs gguf, numpy, ml_dtypes, safetensors)
"""
import json
import os
import sys
import numpy as np
from gguf import GGUFReader
from gguf.quants import dequantize
from ml_dtypes import bfloat16
from safetensors.numpy import save_file

NAMES = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
LAYER = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
         "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm",
         "ffn_norm": "post_attention_layernorm"}
CONTROL = 3


def name_of(name):
    parts = name.removesuffix(".weight").split(".")
    return f"model.layers.{parts[1]}.{LAYER[parts[2]]}.weight" if parts[0] == "blk" else NAMES[parts[0]] + ".weight"


def neox(weight, heads):
    """Rows of GGUF's Llama turn in pairs; Hugging Face's turn by halves of a head."""
    return weight.reshape(heads, -1, 2, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


def main():
    model, out = sys.argv[1:3]
    reader = GGUFReader(model)
    field = lambda name: reader.fields[name].contents()
    heads, kv = field("llama.attention.head_count"), field("llama.attention.head_count_kv")
    tensors = {}
    for tensor in reader.tensors:
        weight = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if ".attn_q." in tensor.name or ".attn_k." in tensor.name:
            weight = neox(weight, heads if ".attn_q." in tensor.name else kv)
        tensors[name_of(tensor.name)] = np.ascontiguousarray(weight).astype(bfloat16)
    tokens, kinds = field("tokenizer.ggml.tokens"), field("tokenizer.ggml.token_type")
    width = field("llama.embedding_length")
    begin, end = field("tokenizer.ggml.bos_token_id"), field("tokenizer.ggml.eos_token_id")
    os.makedirs(out, exist_ok=True)
    save_file(tensors, os.path.join(out, "model.safetensors"), metadata={"format": "pt"})
    config = dict(architectures=["LlamaForCausalLM"], model_type="llama", vocab_size=len(tokens), hidden_size=width,
                  intermediate_size=field("llama.feed_forward_length"), num_hidden_layers=field("llama.block_count"), num_attention_heads=heads,
                  num_key_value_heads=kv, head_dim=width // heads, hidden_act="silu", max_position_embeddings=field("llama.context_length"),
                  rms_norm_eps=float(field("llama.attention.layer_norm_rms_epsilon")), rope_theta=float(field("llama.rope.freq_base")),
                  attention_bias=False, mlp_bias=False, tie_word_embeddings="lm_head.weight" not in tensors, bos_token_id=begin, eos_token_id=end,
                  torch_dtype="bfloat16")
    added = [dict(id=i, content=t, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
             for i, t in enumerate(tokens) if kinds[i] == CONTROL]
    tokenizer = dict(version="1.0", truncation=None, padding=None, added_tokens=added, normalizer=None, post_processor=None,
                     pre_tokenizer=dict(type="Sequence", pretokenizers=[
                         dict(type="Digits", individual_digits=True),
                         dict(type="ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=True)]),
                     decoder=dict(type="ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=True),
                     model=dict(type="BPE", dropout=None, unk_token=None, continuing_subword_prefix=None, end_of_word_suffix=None, fuse_unk=False,
                                byte_fallback=False, ignore_merges=False, vocab={t: i for i, t in enumerate(tokens)},
                                merges=field("tokenizer.ggml.merges")))
    settings = dict(tokenizer_class="GPT2Tokenizer", bos_token=tokens[begin], eos_token=tokens[end], add_bos_token=False,
                    chat_template=field("tokenizer.chat_template"), model_max_length=config["max_position_embeddings"])
    for name, content in {"config.json": config, "tokenizer.json": tokenizer, "tokenizer_config.json": settings}.items():
        with open(os.path.join(out, name), "w", encoding="utf-8") as f:
            json.dump(content, f, ensure_ascii=False)


if __name__ == "__main__":
    main()
