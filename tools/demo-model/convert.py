#!/usr/bin/env python3
"""Writes the demo model's Hugging Face folder as one GGUF file: matrices in Q8_0, norms in F32, llama.cpp's names and layout.

usage: convert.py MODEL_DIR OUT.gguf      (needs gguf and numpy)
MODEL_DIR holds model.safetensors (BF16), config.json, tokenizer.json and tokenizer_config.json, as make.sh leaves them.
"""
import json
import os
import sys
import gguf
import numpy as np

LAYER_NAMES = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}
TOP_NAMES = {"model.embed_tokens": "token_embd", "model.norm": "output_norm"}


def tensors(path):
    """Pairs of a Hugging Face name and its values in float32; BF16 is the upper half of a float32."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        data = file.read()
    for name, entry in sorted(header.items()):
        if name == "__metadata__":
            continue
        if entry["dtype"] != "BF16":
            raise SystemExit(f"{name} is {entry['dtype']}, but BF16 was expected")
        begin, end = entry["data_offsets"]
        wide = np.frombuffer(data[begin:end], np.uint16).astype(np.uint32) << 16
        yield name, wide.view(np.float32).reshape(entry["shape"])


def gguf_name(name):
    stem = name.removesuffix(".weight")
    if stem in TOP_NAMES:
        return TOP_NAMES[stem] + ".weight"
    _, _, layer, part = stem.split(".", 3)
    return f"blk.{layer}.{LAYER_NAMES[part]}.weight"


def interleaved(weight, heads):
    """Rows of a query or key projection in the order of GGUF's llama: the two halves of each head alternate."""
    rows, columns = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def write_configuration(out, config):
    out.add_name("Roselle demo")
    out.add_description("A very small assistant of Roselle's own training: little stories, small sums, tool calls")
    out.add_license("apache-2.0")
    out.add_context_length(config["max_position_embeddings"])
    out.add_embedding_length(config["hidden_size"])
    out.add_block_count(config["num_hidden_layers"])
    out.add_feed_forward_length(config["intermediate_size"])
    out.add_head_count(config["num_attention_heads"])
    out.add_head_count_kv(config["num_key_value_heads"])
    out.add_key_length(config["head_dim"])
    out.add_value_length(config["head_dim"])
    out.add_rope_dimension_count(config["head_dim"])
    out.add_rope_freq_base(config["rope_theta"])
    out.add_layer_norm_rms_eps(config["rms_norm_eps"])
    out.add_vocab_size(config["vocab_size"])
    out.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    out.add_quantization_version(gguf.GGML_QUANT_VERSION)


def write_tokenizer(out, config, tokenizer, settings):
    special = {token["id"] for token in tokenizer["added_tokens"] if token["special"]}
    vocabulary = sorted(tokenizer["model"]["vocab"].items(), key=lambda item: item[1])
    if [number for _, number in vocabulary] != list(range(config["vocab_size"])):
        raise SystemExit("the vocabulary does not number its tokens from 0 without gaps")
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in tokenizer["model"]["merges"]]
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("smollm")  # digits one by one, then GPT-2's pattern
    out.add_token_list([text for text, _ in vocabulary])
    out.add_token_types([gguf.TokenType.CONTROL if number in special else gguf.TokenType.NORMAL for _, number in vocabulary])
    out.add_token_merges(merges)
    ids = dict(vocabulary)
    out.add_bos_token_id(config["bos_token_id"])
    out.add_eos_token_id(ids["<|im_end|>"])
    out.add_eot_token_id(ids["<|im_end|>"])
    out.add_pad_token_id(config["pad_token_id"])
    out.add_add_bos_token(False)
    out.add_chat_template(settings["chat_template"])


def main():
    folder, path = sys.argv[1:3]
    config, tokenizer, settings = (json.load(open(os.path.join(folder, name), encoding="utf-8")) for name in ("config.json", "tokenizer.json", "tokenizer_config.json"))
    out = gguf.GGUFWriter(path, "llama")
    write_configuration(out, config)
    write_tokenizer(out, config, tokenizer, settings)
    for name, weight in tensors(os.path.join(folder, "model.safetensors")):
        if name.endswith("q_proj.weight"):
            weight = interleaved(weight, config["num_attention_heads"])
        elif name.endswith("k_proj.weight"):
            weight = interleaved(weight, config["num_key_value_heads"])
        if weight.ndim == 1:
            out.add_tensor(gguf_name(name), weight)
        else:
            kind = gguf.GGMLQuantizationType.Q8_0
            out.add_tensor(gguf_name(name), gguf.quants.quantize(weight, kind), raw_dtype=kind)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    print(f"{path}: {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    main()
