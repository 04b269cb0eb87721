#!/usr/bin/env python3
"""Writes tiny randomly initialised checkpoints whose configurations the tiny models leave out (RoPE scalings, norms of
queries and keys, windows, tied and untied outputs, shared heads), with the logits and greedy tokens that Hugging Face
transformers computes for them in float32 on the CPU. usage: make_variants.py OUT_DIR [NAME...]

Written with transformers 5.23.0 and torch 2.15.0. Each folder has config.json, model.safetensors (bf16) and
expected.safetensors (input_i, logits_i, greedy_i), as the tiny models have."""
import copy, json, os, sys
import torch, transformers
from safetensors.torch import load_file, save_file

import quantized

OUT, ONLY = sys.argv[1], sys.argv[2:]
SEED, VOCABULARY = 20261, 96
SIZES = dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             intermediate_size=48, max_position_embeddings=256, bos_token_id=1, eos_token_id=2, pad_token_id=0)
YARN = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=16, rope_theta=10000.0)
LONG = dict(rope_type="longrope", short_factor=[1.0, 1.05, 1.2, 1.4], long_factor=[1.0, 1.8, 3.5, 6.0],
            original_max_position_embeddings=16, rope_theta=10000.0)
LATENT = dict(SIZES, num_key_value_heads=4, moe_intermediate_size=24, n_routed_experts=8, n_group=2, topk_group=1,
              num_experts_per_tok=2, n_shared_experts=2, first_k_dense_replace=0, q_lora_rank=None, kv_lora_rank=12,
              qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=12, routed_scaling_factor=2.5, norm_topk_prob=False)
EIGHTHS = dict(SIZES, hidden_size=136, intermediate_size=144)  # a whole block of FP8, and an eighth of one
BLOCK = 128
VARIANTS = {
    "llama-linear": ("LlamaConfig", dict(SIZES, rope_parameters=dict(rope_type="linear", factor=3.0, rope_theta=10000.0))),
    "llama-dynamic": ("LlamaConfig", dict(SIZES, max_position_embeddings=64, rope_parameters=dict(
        rope_type="dynamic", factor=4.0, rope_theta=10000.0))),
    "llama-yarn": ("LlamaConfig", dict(SIZES, rope_parameters=dict(YARN, beta_fast=16.0, beta_slow=2.0))),
    "llama-yarn-factor": ("LlamaConfig", dict(SIZES, tie_word_embeddings=True, head_dim=12, rope_parameters=dict(
        YARN, attention_factor=0.9))),
    "phi3-long": ("Phi3Config", dict(SIZES, original_max_position_embeddings=16, rope_parameters=LONG, sliding_window=20)),
    "phi3-partial": ("Phi3Config", dict(SIZES, partial_rotary_factor=0.5, tie_word_embeddings=True)),
    "mistral-headdim": ("MistralConfig", dict(SIZES, head_dim=24, sliding_window=7, tie_word_embeddings=True)),
    "qwen2-window": ("Qwen2Config", dict(SIZES, num_hidden_layers=3, use_sliding_window=True, sliding_window=9,
                                        max_window_layers=1, tie_word_embeddings=False)),
    "qwen2-yarn": ("Qwen2Config", dict(SIZES, rope_parameters=YARN)),
    "qwen3-bias": ("Qwen3Config", dict(SIZES, head_dim=10, attention_bias=True, tie_word_embeddings=True)),
    "qwen2-moe-mixed": ("Qwen2MoeConfig", dict(SIZES, num_hidden_layers=4, num_experts=5, num_experts_per_tok=3,
                                              moe_intermediate_size=24, shared_expert_intermediate_size=40,
                                              decoder_sparse_step=2, norm_topk_prob=True)),
    "qwen3-moe-dense": ("Qwen3MoeConfig", dict(SIZES, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24,
                                              mlp_only_layers=[0], head_dim=16, norm_topk_prob=False)),
    "cohere-norms": ("CohereConfig", dict(SIZES, use_qk_norm=True, logit_scale=0.5)),
    "stablelm-norms": ("StableLmConfig", dict(SIZES, qk_layernorm=True, use_qkv_bias=True, partial_rotary_factor=0.5)),
    "stablelm-parallel": ("StableLmConfig", dict(SIZES, use_parallel_residual=True, tie_word_embeddings=True)),
    "phi-norms": ("PhiConfig", dict(SIZES, qk_layernorm=True, partial_rotary_factor=0.5)),
    "granite-bias": ("GraniteConfig", dict(SIZES, attention_bias=True, mlp_bias=True, embedding_multiplier=5.0,
                                          residual_multiplier=0.3, attention_multiplier=0.05, logits_scaling=0.5,
                                          tie_word_embeddings=True)),
    "gemma-wide": ("GemmaConfig", dict(SIZES, num_key_value_heads=1, head_dim=20)),
    "gemma2-caps": ("Gemma2Config", dict(SIZES, num_hidden_layers=3, head_dim=12, sliding_window=6,
                                        query_pre_attn_scalar=50, attn_logit_softcapping=2.0,
                                        final_logit_softcapping=1.5)),
    "gemma3-linear": ("Gemma3TextConfig", dict(SIZES, num_hidden_layers=6, head_dim=16, sliding_window=8,
                                              query_pre_attn_scalar=9, rope_parameters=dict(
        full_attention=dict(rope_type="linear", factor=8.0, rope_theta=1000000.0),
        sliding_attention=dict(rope_type="default", rope_theta=10000.0)))),
    "neox-serial": ("GPTNeoXConfig", dict({k: v for k, v in SIZES.items() if k != "num_key_value_heads"},
                                         use_parallel_residual=False, rotary_pct=0.5, hidden_act="gelu_new")),
    "smollm3-window": ("SmolLM3Config", dict(SIZES, num_hidden_layers=3, no_rope_layers=[0, 1, 1], sliding_window=9,
                                            use_sliding_window=True, tie_word_embeddings=False)),
    "starcoder2-window": ("Starcoder2Config", dict(SIZES, sliding_window=8, use_bias=False, tie_word_embeddings=False)),
    "glm4-wide": ("Glm4Config", dict(SIZES, head_dim=16, partial_rotary_factor=0.25, attention_bias=True)),
    "olmo2-shared": ("Olmo2Config", dict(SIZES, num_key_value_heads=1, tie_word_embeddings=True)),
    "mixtral-window": ("MixtralConfig", dict(SIZES, num_local_experts=5, num_experts_per_tok=3, sliding_window=10,
                                            head_dim=16)),
    "gpt2-inner": ("GPT2Config", dict(vocab_size=VOCABULARY, n_embd=32, n_layer=2, n_head=2, n_inner=40, n_positions=80,
                                     activation_function="relu", scale_attn_weights=False, bos_token_id=1,
                                     eos_token_id=2)),
    "gpt-oss-clamped": ("GptOssConfig", dict(SIZES, head_dim=8, num_local_experts=3, num_experts_per_tok=2, sliding_window=6,
                                            swiglu_limit=0.5, rope_parameters=dict(YARN, truncate=False))),
    "gpt-oss-mxfp4": ("GptOssConfig", dict(SIZES, intermediate_size=64, head_dim=8, num_local_experts=3,
                                          num_experts_per_tok=2, sliding_window=6,
                                          rope_parameters=dict(YARN, truncate=False))),
    "qwen3-fp8": ("Qwen3Config", dict(EIGHTHS, head_dim=34)),
    "qwen3-moe-fp8": ("Qwen3MoeConfig", dict(EIGHTHS, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=40,
                                            head_dim=16, norm_topk_prob=True)),
    "deepseek-fp8": ("DeepseekV3Config", dict(LATENT, hidden_size=136, n_routed_experts=4, qk_nope_head_dim=8, v_head_dim=28,
                                             kv_lora_rank=20, q_lora_rank=16, first_k_dense_replace=1)),
    **{f"qwen3-{form}": ("Qwen3Config", dict(SIZES, num_hidden_layers=1, head_dim=16, **quantized.SIZES.get(form, {})))
       for form in quantized.FORMS},
    "deepseek-plain": ("DeepseekV3Config", dict(LATENT)),
    "deepseek-yarn": ("DeepseekV3Config", dict(LATENT, q_lora_rank=16, rope_interleave=False, rope_parameters=dict(
        YARN, mscale=0.707, mscale_all_dim=1.0))),
}


def initialise(model, tied):
    for name, parameter in model.named_parameters():
        if parameter.dim() >= 2:
            embeds = "embed" in name or "wte" in name
            parameter.normal_(0, (0.1 if tied else 0.6) if embeds else 0.9 / parameter.shape[-1] ** 0.5)
        elif "norm" in name or "ln_" in name:
            parameter.add_(torch.randn_like(parameter) * 0.1)
        else:
            parameter.normal_(0, 0.1)
        parameter.copy_(parameter.to(torch.bfloat16).float())
    for name, buffer in model.named_buffers():
        if "e_score_correction_bias" in name:
            buffer.normal_(0, 0.05)
            buffer.copy_(buffer.to(torch.bfloat16).float())


def microscale(model):
    """Gives experts MXFP4 numbers and returns the packed tensors that stand for them; transformers unpacks them."""
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors
    packed = {}
    for layer, block in enumerate(model.model.layers):
        for name in ("gate_up_proj", "down_proj"):
            parameter = getattr(block.mlp.experts, name)
            experts, inputs, outputs = parameter.shape
            blocks = torch.randint(0, 256, (experts, outputs, inputs // 32, 16), dtype=torch.uint8)
            scales = torch.randint(122, 126, (experts, outputs, inputs // 32), dtype=torch.uint8)
            numbers = convert_moe_packed_tensors(blocks, scales, dtype=torch.float32)
            assert numbers.shape == parameter.shape, (numbers.shape, parameter.shape)
            parameter.copy_(numbers)
            key = f"model.layers.{layer}.mlp.experts.{name}"
            packed[key + "_blocks"], packed[key + "_scales"] = blocks, scales
    return packed


def save_microscaled(folder, packed):
    """Replaces the experts of a saved checkpoint by their packed tensors, as published checkpoints have them."""
    file = os.path.join(folder, "model.safetensors")
    tensors = {k: v for k, v in load_file(file).items() if not k.endswith(("experts.gate_up_proj", "experts.down_proj"))}
    save_file(tensors | packed, file, metadata={"format": "pt"})
    file = os.path.join(folder, "config.json")
    config = json.load(open(file))
    config["quantization_config"] = dict(quant_method="mxfp4", modules_to_not_convert=[
        "model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"])
    json.dump(config, open(file, "w"), indent=2)


def block_scales(scales, shape):
    """Each block's scale at each of its numbers."""
    return scales.repeat_interleave(BLOCK, 0)[: shape[0]].repeat_interleave(BLOCK, 1)[:, : shape[1]]


def to_blocks(weight, scale_type):
    """Codes and scales of a matrix in blocks of FP8, as DeepSeek-V3's and Qwen3's published checkpoints have them."""
    rows, columns = weight.shape
    padded = torch.zeros(-(-rows // BLOCK) * BLOCK, -(-columns // BLOCK) * BLOCK)
    padded[:rows, :columns] = weight
    largest = padded.reshape(padded.shape[0] // BLOCK, BLOCK, -1, BLOCK).abs().amax((1, 3))
    scales = (largest / 448).to(scale_type)
    codes = (weight / block_scales(scales.float(), weight.shape)).clamp(-448, 448).to(torch.float8_e4m3fn)
    return codes, scales


def to_float8(folder, scale_type):
    """Rewrites a saved checkpoint in blocks of FP8; returns what transformers computes with the dequantized weights."""
    file = os.path.join(folder, "model.safetensors")
    plain, stored = {}, {}
    for name, tensor in load_file(file).items():
        plain[name], stored[name] = tensor.float(), tensor
        if name.endswith("_proj.weight") or name.endswith("_proj_with_mqa.weight"):
            codes, scales = to_blocks(tensor.float(), scale_type)
            plain[name] = codes.float() * block_scales(scales.float(), tensor.shape)
            stored[name], stored[name + "_scale_inv"] = codes, scales
    save_file(plain, file, metadata={"format": "pt"})
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    save_file(stored, file, metadata={"format": "pt"})
    path = os.path.join(folder, "config.json")
    config = json.load(open(path))
    config["quantization_config"] = dict(activation_scheme="dynamic", fmt="e4m3", quant_method="fp8",
                                         weight_block_size=[BLOCK, BLOCK])
    json.dump(config, open(path, "w"), indent=2)
    return model.eval()


def to_integers(folder, form):
    """Rewrites a saved checkpoint in one of the forms of quantized.py; returns what transformers computes with its numbers."""
    file = os.path.join(folder, "model.safetensors")
    configuration, store = quantized.FORMS[form]
    plain, stored = {}, {}
    for name, tensor in load_file(file).items():
        plain[name], parts = tensor.float(), {name: tensor}
        if name.endswith("_proj.weight"):
            parts, plain[name] = store(name.removesuffix(".weight"), tensor.float())
        stored |= parts
    save_file({name: tensor.contiguous() for name, tensor in plain.items()}, file, metadata={"format": "pt"})
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    save_file(stored, file, metadata={"format": "pt"})
    path = os.path.join(folder, "config.json")
    config = json.load(open(path)) | dict(quantization_config=configuration)
    json.dump(config, open(path, "w"), indent=2)
    return model.eval()


def greedy(model, ids, count):
    for _ in range(count):
        ids = torch.cat([ids, model(ids).logits[:, -1].argmax(-1, keepdim=True)], 1)
    return ids[0, -count:]


def write(name, config_class, arguments):
    torch.manual_seed(SEED + sum(name.encode()))
    config = getattr(transformers, config_class)(**arguments)
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    expected = {}
    with torch.no_grad():
        initialise(model, config.tie_word_embeddings)
        packed = microscale(model) if name.endswith("mxfp4") else {}
        folder = os.path.join(OUT, name)
        os.makedirs(folder, exist_ok=True)
        copy.deepcopy(model).to(torch.bfloat16).save_pretrained(folder)
        if name.endswith("fp8"):
            model = to_float8(folder, torch.bfloat16 if name == "qwen3-fp8" else torch.float32)
        if name.split("-")[-1] in quantized.FORMS:
            model = to_integers(folder, name.split("-")[-1])
        for i, length in enumerate((21, 37)):
            ids = torch.randint(3, VOCABULARY, (1, length), generator=torch.Generator().manual_seed(SEED + i))
            expected[f"input_{i}"] = ids[0].to(torch.int32).contiguous()
            expected[f"logits_{i}"] = model(ids).logits[0].float().contiguous()
            expected[f"greedy_{i}"] = greedy(model, ids, 8).to(torch.int32).contiguous()
    if packed:
        save_microscaled(folder, packed)
    generation = os.path.join(folder, "generation_config.json")
    if os.path.exists(generation):
        os.remove(generation)
    save_file(expected, os.path.join(folder, "expected.safetensors"))
    print(name, "std", float(expected["logits_1"].std()), expected["greedy_1"].tolist(), flush=True)


for name, (config_class, arguments) in VARIANTS.items():
    if not ONLY or name in ONLY:
        try:
            write(name, config_class, arguments)
        except Exception as failure:  # the next one may still work
            print(name, "FAILED", repr(failure)[:300], flush=True)
