#!/usr/bin/env python3
"""Writes tiny randomly initialised checkpoints of families whose layers keep states (gated delta nets, short
convolutions), with the logits and greedy tokens that Hugging Face transformers computes for them in float32 on the CPU by
full forwards without a cache. usage: make_hybrid.py OUT_DIR [NAME...]

Written with transformers 5.23.0 and torch 2.15.0. OUT_DIR/NAME has config.json, model.safetensors (bf16) and
expected.safetensors (input_i, logits_i, greedy_i of 1, 17 and 45 tokens), as the tiny models have. OUT_DIR/NAME-lengths.safetensors
has the same of lengths around the boundaries of chunks of 16 and of 64, of logits the last 16 rows."""
import copy, os, sys
import torch, transformers
from safetensors.torch import save_file

OUT, ONLY = sys.argv[1], sys.argv[2:]
SEED, VOCABULARY = 20301, 320
COMMON = dict(vocab_size=VOCABULARY, hidden_size=48, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
              intermediate_size=64, max_position_embeddings=1024, bos_token_id=1, eos_token_id=2, pad_token_id=0)
DELTA = dict(linear_conv_kernel_dim=4, linear_key_head_dim=12, linear_value_head_dim=16, linear_num_key_heads=2,
             linear_num_value_heads=4, head_dim=16)
MROPE = dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5, mrope_interleaved=True,
             mrope_section=[2, 1, 1])
VISION = dict(depth=1, hidden_size=16, intermediate_size=16, num_heads=2, out_hidden_size=48, patch_size=4,
              num_position_embeddings=16)
EXPERTS = dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24, shared_expert_intermediate_size=32)
MODELS = {
    "qwen3_5": ("Qwen3_5", dict(COMMON, **DELTA, rope_parameters=MROPE)),
    "qwen3_5_text": ("Qwen3_5Text", dict(COMMON, tie_word_embeddings=True, num_hidden_layers=3, head_dim=24,
                                         layer_types=["full_attention", "linear_attention", "linear_attention"],
                                         linear_conv_kernel_dim=3, linear_key_head_dim=20, linear_value_head_dim=24,
                                         linear_num_key_heads=3, linear_num_value_heads=3,
                                         rope_parameters=dict(rope_type="default", rope_theta=500000.0))),
    "qwen3_5_moe_text": ("Qwen3_5MoeText", dict({k: v for k, v in COMMON.items() if k != "intermediate_size"}, **DELTA,
                                                **EXPERTS, rope_parameters=MROPE)),
    "qwen3_5_moe": ("Qwen3_5Moe", dict({k: v for k, v in COMMON.items() if k != "intermediate_size"}, **DELTA, **EXPERTS,
                                       rope_parameters=MROPE)),
    "qwen3_next": ("Qwen3Next", dict(COMMON, **DELTA, **EXPERTS, norm_topk_prob=True, decoder_sparse_step=1,
                                     rope_parameters=dict(rope_type="default", rope_theta=10000.0,
                                                          partial_rotary_factor=0.25))),
    "lfm2": ("Lfm2", dict(COMMON, layer_types=["conv", "conv", "full_attention", "conv"],
                          block_auto_adjust_ff_dim=False, rope_parameters=dict(rope_type="default",
                                                                               rope_theta=10000.0))),
}


def initialise(model, tied):
    for name, parameter in model.named_parameters():
        if "conv" in name and parameter.dim() == 3:
            parameter.normal_(0, 0.5)
        elif name.endswith("A_log"):
            parameter.uniform_(-3, 1.5)  # from states that nearly stay to such as are gone within a chunk
        elif parameter.dim() >= 2:
            parameter.normal_(0, (0.3 if tied else 0.6) if "embed" in name else 0.9 / parameter.shape[-1] ** 0.5)
        elif "norm" in name:
            parameter.add_(torch.randn_like(parameter) * 0.1)
        else:
            parameter.normal_(0, 0.3)
        parameter.copy_(parameter.to(torch.bfloat16).float())


def build(kind, arguments):
    """A model with its wrapper, where published checkpoints have one."""
    if kind not in ("Qwen3_5", "Qwen3_5Moe"):
        config = getattr(transformers, kind + "Config")(**arguments)
        return config, getattr(transformers, kind.removesuffix("Text") + "ForCausalLM")
    config = getattr(transformers, kind + "Config")(text_config=arguments, vision_config=VISION, image_token_id=316,
                                                    video_token_id=317, vision_start_token_id=318,
                                                    vision_end_token_id=319)
    return config, getattr(transformers, kind + "ForConditionalGeneration")


def greedy(model, ids, count):
    for _ in range(count):
        ids = torch.cat([ids, model(input_ids=ids, use_cache=False).logits[:, -1].argmax(-1, keepdim=True)], 1)
    return ids[0, -count:]


def expect(model, lengths, count, rows):
    expected = {}
    for i, length in enumerate(lengths):
        ids = torch.randint(3, 310, (1, length), generator=torch.Generator().manual_seed(SEED + length))
        expected[f"input_{i}"] = ids[0].to(torch.int32).contiguous()
        expected[f"logits_{i}"] = model(input_ids=ids, use_cache=False).logits[0, -rows:].float().contiguous()
        expected[f"greedy_{i}"] = greedy(model, ids, count).to(torch.int32).contiguous()
    return expected


def write(name, kind, arguments):
    torch.manual_seed(SEED + sum(name.encode()))
    config, model_class = build(kind, arguments)
    config._attn_implementation = "eager"
    model = model_class(config).float().eval()
    folder = os.path.join(OUT, name)
    os.makedirs(folder, exist_ok=True)
    with torch.no_grad():
        initialise(model, config.tie_word_embeddings)
        copy.deepcopy(model).to(torch.bfloat16).save_pretrained(folder)
        save_file(expect(model, (1, 17, 45), 16, 45), os.path.join(folder, "expected.safetensors"))
        lengths = expect(model, (1, 15, 16, 17, 63, 64, 65, 130, 1000), 8, 16)
        save_file(lengths, os.path.join(OUT, name + "-lengths.safetensors"))
    print(name, "std", float(lengths["logits_8"].std()), lengths["greedy_8"].tolist(), flush=True)


for name, (kind, arguments) in MODELS.items():
    if not ONLY or name in ONLY:
        write(name, kind, arguments)
