#!/usr/bin/env python3
"""Writes a model of a known shape with random weights in BF16, to measure speed with: its answers mean nothing. Needs PyTorch.

    random_shape.py NAME FOLDER [LAYERS]    NAME: llama-8b, qwen3.6-27b, qwen3.6-35b-a3b, gemma-4-26b-a4b, qwen3-30b-a3b
"""

import json
import struct
import sys
from pathlib import Path

import torch


def gated(prefix, wide, middle):
    """A gated feed-forward's three matrices."""
    yield f"{prefix}.gate_proj.weight", (middle, wide)
    yield f"{prefix}.up_proj.weight", (middle, wide)
    yield f"{prefix}.down_proj.weight", (wide, middle)


def attention(prefix, wide, heads, pairs, size, norms=True, values=True, gate=False):
    """Projections of one attention layer, and the norms of its heads; `gate` doubles the queries as Qwen 3.5 does."""
    yield f"{prefix}.q_proj.weight", (heads * size * (2 if gate else 1), wide)
    yield f"{prefix}.k_proj.weight", (pairs * size, wide)
    if values:
        yield f"{prefix}.v_proj.weight", (pairs * size, wide)
    yield f"{prefix}.o_proj.weight", (wide, heads * size)
    if norms:
        yield f"{prefix}.q_norm.weight", (size,)
        yield f"{prefix}.k_norm.weight", (size,)


def llama(config):
    """Llama and Qwen 3 MoE."""
    wide, heads = config["hidden_size"], config["num_attention_heads"]
    size = config.get("head_dim", wide // heads)
    yield "model.embed_tokens.weight", (config["vocab_size"], wide)
    for number in range(config["num_hidden_layers"]):
        layer = f"model.layers.{number}"
        for norm in ("input_layernorm", "post_attention_layernorm"):
            yield f"{layer}.{norm}.weight", (wide,)
        yield from attention(f"{layer}.self_attn", wide, heads, config["num_key_value_heads"], size, "num_experts" in config)
        if "num_experts" in config:
            yield f"{layer}.mlp.gate.weight", (config["num_experts"], wide)
            for expert in range(config["num_experts"]):
                yield from gated(f"{layer}.mlp.experts.{expert}", wide, config["moe_intermediate_size"])
        else:
            yield from gated(f"{layer}.mlp", wide, config["intermediate_size"])
    yield "model.norm.weight", (wide,)
    yield "lm_head.weight", (config["vocab_size"], wide)


def qwen35(config):
    """Qwen 3.5 and 3.6, dense and with experts."""
    wide = config["hidden_size"]
    keys = config["linear_num_key_heads"] * config["linear_key_head_dim"]
    states = config["linear_num_value_heads"]
    values = states * config["linear_value_head_dim"]
    yield "model.embed_tokens.weight", (config["vocab_size"], wide)
    for number, kind in enumerate(config["layer_types"]):
        layer = f"model.layers.{number}"
        for norm in ("input_layernorm", "post_attention_layernorm"):
            yield f"{layer}.{norm}.weight", (wide,)
        if kind == "full_attention":
            yield from attention(f"{layer}.self_attn", wide, config["num_attention_heads"], config["num_key_value_heads"],
                                 config["head_dim"], gate=True)
        else:
            linear = f"{layer}.linear_attn"
            yield f"{linear}.A_log", (states,)
            yield f"{linear}.dt_bias", (states,)
            yield f"{linear}.conv1d.weight", (2 * keys + values, 1, config["linear_conv_kernel_dim"])
            yield f"{linear}.in_proj_a.weight", (states, wide)
            yield f"{linear}.in_proj_b.weight", (states, wide)
            yield f"{linear}.in_proj_qkv.weight", (2 * keys + values, wide)
            yield f"{linear}.in_proj_z.weight", (values, wide)
            yield f"{linear}.norm.weight", (config["linear_value_head_dim"],)
            yield f"{linear}.out_proj.weight", (wide, values)
        if "num_experts" in config:
            yield f"{layer}.mlp.gate.weight", (config["num_experts"], wide)
            yield f"{layer}.mlp.shared_expert_gate.weight", (1, wide)
            yield from gated(f"{layer}.mlp.shared_expert", wide, config["shared_expert_intermediate_size"])
            for expert in range(config["num_experts"]):
                yield from gated(f"{layer}.mlp.experts.{expert}", wide, config["moe_intermediate_size"])
        else:
            yield from gated(f"{layer}.mlp", wide, config["intermediate_size"])
    yield "model.norm.weight", (wide,)
    yield "lm_head.weight", (config["vocab_size"], wide)


def gemma4(config):
    """Gemma 4 with experts beside a dense feed-forward."""
    wide, experts, middle = config["hidden_size"], config["num_experts"], config["moe_intermediate_size"]
    yield "model.embed_tokens.weight", (config["vocab_size"], wide)
    for number, kind in enumerate(config["layer_types"]):
        layer = f"model.layers.{number}"
        for norm in ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "pre_feedforward_layernorm_2",
                     "post_feedforward_layernorm", "post_feedforward_layernorm_1", "post_feedforward_layernorm_2"):
            yield f"{layer}.{norm}.weight", (wide,)
        yield f"{layer}.layer_scalar", (1,)
        is_full = kind == "full_attention"
        yield from attention(f"{layer}.self_attn", wide, config["num_attention_heads"],
                             config["num_global_key_value_heads" if is_full else "num_key_value_heads"],
                             config["global_head_dim" if is_full else "head_dim"], values=not is_full)
        yield from gated(f"{layer}.mlp", wide, config["intermediate_size"])
        yield f"{layer}.router.proj.weight", (experts, wide)
        yield f"{layer}.router.scale", (wide,)
        yield f"{layer}.router.per_expert_scale", (experts,)
        yield f"{layer}.experts.gate_up_proj", (experts, 2 * middle, wide)
        yield f"{layer}.experts.down_proj", (experts, wide, middle)
    yield "model.norm.weight", (wide,)


QWEN35 = {"hidden_act": "silu", "vocab_size": 248320, "rms_norm_eps": 1e-6, "max_position_embeddings": 262144, "head_dim": 256,
          "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_num_key_heads": 16,
          "attention_bias": False, "tie_word_embeddings": False,
          "rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25}}
SHAPES = {
    "llama-8b": (llama, {
        "model_type": "llama", "hidden_act": "silu", "vocab_size": 128256, "hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "tie_word_embeddings": False}),
    "qwen3-30b-a3b": (llama, {
        "model_type": "qwen3_moe", "hidden_act": "silu", "vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 6144,
        "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8, "norm_topk_prob": True, "decoder_sparse_step": 1,
        "mlp_only_layers": [], "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
        "max_position_embeddings": 40960, "rms_norm_eps": 1e-6, "rope_theta": 1e6, "tie_word_embeddings": False}),
    "qwen3.6-27b": (qwen35, QWEN35 | {
        "model_type": "qwen3_5_text", "hidden_size": 5120, "intermediate_size": 17408, "num_hidden_layers": 64,
        "num_attention_heads": 24, "num_key_value_heads": 4, "linear_num_value_heads": 48}),
    "qwen3.6-35b-a3b": (qwen35, QWEN35 | {
        "model_type": "qwen3_5_moe_text", "hidden_size": 2048, "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
        "num_experts": 256, "num_experts_per_tok": 8, "num_hidden_layers": 40, "num_attention_heads": 16, "num_key_value_heads": 2,
        "linear_num_value_heads": 32}),
    "gemma-4-26b-a4b": (gemma4, {
        "model_type": "gemma4_text", "hidden_activation": "gelu_pytorch_tanh", "vocab_size": 262144, "hidden_size": 2816,
        "intermediate_size": 2112, "moe_intermediate_size": 704, "enable_moe_block": True, "num_experts": 128, "top_k_experts": 8,
        "num_hidden_layers": 30, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256, "global_head_dim": 512,
        "num_global_key_value_heads": 2, "attention_k_eq_v": True, "sliding_window": 1024, "hidden_size_per_layer_input": 0,
        "num_kv_shared_layers": 0, "use_double_wide_mlp": False, "final_logit_softcapping": 30.0, "rms_norm_eps": 1e-6,
        "max_position_embeddings": 262144, "tie_word_embeddings": True, "attention_bias": False,
        "rope_parameters": {"full_attention": {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25},
                            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}}),
}


def main(name, folder, layers=None):
    tensors, config = SHAPES[name]
    config = dict(config)
    if layers:
        config["num_hidden_layers"] = int(layers)
    every = {"qwen3_5": 4, "gemma4": 6}
    for kind, period in every.items():
        if config["model_type"].startswith(kind):
            other = "linear_attention" if kind == "qwen3_5" else "sliding_attention"
            config["layer_types"] = ["full_attention" if number % period == period - 1 else other
                                     for number in range(config["num_hidden_layers"])]
    folder = Path(folder)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    header, end = {}, 0
    for tensor, shape in tensors(config):
        count = torch.Size(shape).numel()
        header[tensor] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [end, end + 2 * count]}
        end += 2 * count
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        while end > 0: # matrices do not begin where pieces do, and need not
            piece = min(end, 1 << 30)
            values = torch.randn(piece // 2, device=device, dtype=torch.bfloat16) * 0.02
            file.write(values.cpu().view(torch.uint8).numpy())
            end -= piece


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in SHAPES:
        sys.exit(__doc__)
    main(*sys.argv[1:])
