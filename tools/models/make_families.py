#!/usr/bin/env python3
"""Writes tiny randomly initialised checkpoints of families of decoders, with the logits and greedy tokens that Hugging Face
transformers computes for them in float32 on the CPU by full forwards without a cache. usage: make_families.py OUT_DIR [NAME...]

Written with transformers 5.23.0 and 5.24.0 and torch 2.15.0. OUT_DIR/NAME has config.json, model.safetensors (bf16) and
expected.safetensors (input_i, logits_i, greedy_i of 1, 17 and 45 tokens), as the tiny models have. Of families whose layers
keep states, OUT_DIR/NAME-lengths.safetensors has the same of lengths around the boundaries of chunks of 16 and of 64, of
logits the last 16 rows."""
import copy, json, os, sys
import torch, transformers
from safetensors.torch import load_file, save_file

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
QWEN3_VISION = dict(VISION, deepstack_visual_indexes=[0])
QWEN2_VISION = dict(depth=1, hidden_size=16, intermediate_size=16, num_heads=2, out_hidden_size=48, patch_size=4,
                    fullatt_block_indexes=[0], window_size=16)
PIXTRAL = dict(model_type="pixtral", hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
               head_dim=8, image_size=16, patch_size=4)
GEMMA_VISION = dict(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2,
                    head_dim=8, patch_size=4, position_embedding_size=16)
PATCHES = dict(mm_embed_dim=16, mm_posemb_size=16, output_proj_dims=16, patch_size=4)
WRAPPED = dict(Gemma4=GEMMA_VISION, Gemma4Unified=PATCHES, Qwen3_5=VISION, Qwen3_5Moe=VISION, Qwen3VL=QWEN3_VISION,
               Qwen3VLMoe=QWEN3_VISION, Qwen2_5_VL=QWEN2_VISION, Mistral3=PIXTRAL)
THREE = dict(COMMON, num_hidden_layers=3)
ROPE = dict(rope_type="default", rope_theta=10000.0)
WINDOWS = dict(sliding_window=8, layer_types=["sliding_attention", "sliding_attention", "full_attention"])
ROUTED = dict(n_routed_experts=6, n_shared_experts=1, num_experts_per_tok=2, moe_intermediate_size=24, n_group=2,
              topk_group=1, norm_topk_prob=True, routed_scaling_factor=1.5)
FEW = 128  # tokens where small files matter; the last ones stand for pictures and sound
GEMMA = dict(vocab_size=FEW, hidden_size=32, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
             global_head_dim=16, intermediate_size=32, sliding_window=8, max_position_embeddings=1024,
             final_logit_softcapping=30.0, bos_token_id=1, eos_token_id=2, pad_token_id=0,
             layer_types=["sliding_attention"] * 3 + ["full_attention"])
GEMMA3N = dict(vocab_size=FEW, vocab_size_per_layer_input=FEW, hidden_size=32, hidden_size_per_layer_input=8,
               num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, head_dim=8, intermediate_size=32,
               sliding_window=8, max_position_embeddings=1024, bos_token_id=1, eos_token_id=2, pad_token_id=0,
               layer_types=["sliding_attention", "full_attention"] * 2, num_kv_shared_layers=2, laurel_rank=4,
               activation_sparsity_pattern=[0.95, 0.5, 0.0, 0.0])
ONE_KEY = dict(attention_k_eq_v=True, num_global_key_value_heads=1, use_bidirectional_attention="vision")
SMALL = dict(vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
             intermediate_size=48, max_position_embeddings=1024, bos_token_id=1, eos_token_id=2, pad_token_id=0)
SPACES = dict(mamba_n_heads=8, mamba_d_head=8, mamba_d_state=16, mamba_expand=2, mamba_d_conv=4)
SPACES_H = dict(mamba_num_heads=8, mamba_head_dim=8, ssm_state_size=16, n_groups=2, conv_kernel=4, expand=2)
LIGHTNING = dict(num_hidden_layers=3, head_dim=16, intermediate_size=24, num_local_experts=4, num_experts_per_tok=2, block_size=16,
                 layer_types=["linear_attention", "full_attention", "linear_attention"], rope_parameters=ROPE)
SCANS = dict(vocab_size=96, hidden_size=32, num_hidden_layers=3, state_size=16, time_step_rank=2, bos_token_id=1, eos_token_id=2, pad_token_id=0)
NEAR = dict(num_local_experts=6, num_experts_per_tok=2, intermediate_size=24)
SEES = dict(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=16, patch_size=8)
HEARS = dict(model_type="qwen2_audio_encoder", d_model=16, encoder_attention_heads=2, encoder_ffn_dim=16, encoder_layers=1,
             num_mel_bins=8, max_source_positions=16)
CLIP = dict(SEES, model_type="clip_vision_model", projection_dim=16)
SIGLIP = dict(SEES, model_type="siglip_vision_model", vision_use_head=False)
LATENT = dict(num_key_value_heads=4, kv_lora_rank=16, q_lora_rank=24, qk_rope_head_dim=4, qk_nope_head_dim=8, v_head_dim=12,
              n_shared_experts=1)
# eight heads, so that ReLUs make few equal scores of zero, of which lowest_first takes the first ones
SPARSE = dict(LATENT, n_routed_experts=4, num_experts_per_tok=2, moe_intermediate_size=16, norm_topk_prob=True,
              routed_scaling_factor=1.5, index_topk=8, index_head_dim=8, index_n_heads=8, intermediate_size=32,
              first_k_dense_replace=1)
BLOCKS = SMALL | dict(num_hidden_layers=3, rotary_dim=4, layer_types=["full_attention"] + ["minimax_m3_sparse"] * 2, intermediate_size=16,
                      mlp_layer_types=["dense", "sparse", "sparse"], dense_intermediate_size=32, shared_intermediate_size=24,
                      num_local_experts=4, num_experts_per_tok=2, routed_scaling_factor=1.5, index_n_heads=2, index_head_dim=8,
                      index_block_size=8, index_topk_blocks=3, index_local_blocks=1,
                      rope_parameters=dict(ROPE, partial_rotary_factor=0.5))
GROWING = dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=8, beta_fast=32.0,
               beta_slow=1.0, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.3)
LLAMA4 = dict(num_hidden_layers=4, intermediate_size=16, intermediate_size_mlp=48, num_local_experts=4,
              num_experts_per_tok=1, interleave_moe_layer_step=2, attention_chunk_size=8, floor_scale=8, attn_scale=0.3,
              rope_parameters=ROPE)
COMPRESSED = dict(vocab_size=96, hidden_size=32, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=1, head_dim=16,
                  qk_rope_head_dim=8, q_lora_rank=16, o_groups=2, o_lora_rank=8, sliding_window=16, compress_ratios=[0, 4, 128],
                  index_n_heads=8, index_head_dim=16, index_topk=8, n_routed_experts=4, num_experts_per_tok=2,
                  moe_intermediate_size=32, num_hash_layers=1, swiglu_limit=1.0, max_position_embeddings=1024, rope_theta=10000.0,
                  compress_rope_theta=40000.0, rope_scaling=dict(type="yarn", rope_type="yarn", factor=4.0, beta_fast=8, beta_slow=1,
                                                                 original_max_position_embeddings=64),
                  bos_token_id=1, eos_token_id=2, pad_token_id=0)
STEP = dict(num_hidden_layers=4, num_sliding_attention_heads=6, layer_types=["full_attention"] + ["sliding_attention"] * 2 + ["full_attention"],
            sliding_window=8, moe_layers_enum="1,2,3", n_routed_experts=6, num_experts_per_tok=2, moe_intermediate_size=16,
            share_expert_dim=24, moe_router_scaling_factor=1.5, swiglu_limits=[0.0, 0.0, 0.25, 0.5],
            swiglu_limits_shared=[0.5, 0.0, 0.0, 0.25], rope_theta=[50000.0, 10000.0, 10000.0, 50000.0],
            partial_rotary_factors=[0.5, 1.0, 1.0, 0.5],
            rope_scaling=dict(rope_type="llama3", factor=2.0, original_max_position_embeddings=32, low_freq_factor=1.0, high_freq_factor=32.0))
STEP_VISION = dict(SEES, num_channels=3, mlp_ratio=1.0, hidden_size=4, max_position_embeddings=16)
# of two, which converters multiply weights of 16 bits by without rounding
POWERS = dict(lm_head_multiplier=0.5, embedding_multiplier=2.0, mlp_multipliers=[0.5, 2.0], key_multiplier=0.5, attention_out_multiplier=2.0,
              attention_in_multiplier=0.5, ssm_multipliers=[0.5, 2.0, 0.25, 4.0, 0.5], ssm_in_multiplier=2.0, ssm_out_multiplier=0.25)
MODELS = {
    "deepseek_v4": ("DeepseekV4", COMPRESSED),
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
    "lfm2_moe": ("Lfm2Moe", dict(THREE, layer_types=["conv", "full_attention", "conv"], num_dense_layers=1, num_experts=6,
                                 num_experts_per_tok=2, moe_intermediate_size=24, rope_parameters=ROPE)),
    "glm5_next": ("Glm5Next", dict(
        text_config=dict(
            vocab_size=FEW, hidden_size=32, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=4, intermediate_size=48,
            moe_intermediate_size=16, n_routed_experts=4, num_experts_per_tok=2, n_shared_experts=1, routed_scaling_factor=1.5,
            kv_lora_rank=16, q_lora_rank=24, qk_nope_head_dim=8, v_head_dim=12, mlp_layer_types=["dense"] + ["sparse"] * 3,
            layer_types=["linear_attention", "indexed_attention"] * 2, index_topk=8, index_kpool=4, index_head_dim=8, index_n_heads=8,
            swiglu_limit=0.7, linear_head_dim=16, linear_num_heads=2, max_position_embeddings=1024, bos_token_id=1, eos_token_id=2,
            pad_token_id=0),
        vision_config=dict(hidden_size=16, intermediate_size=16, depth=1, num_heads=2, out_hidden_size=32, projection_intermediate_size=16,
                           patch_size=4, image_size=16),
        image_token_id=118, video_token_id=119, image_start_token_id=120, image_end_token_id=121, video_start_token_id=122,
        video_end_token_id=123)),
    "lfm3": ("Lfm3", SMALL | dict(
        num_hidden_layers=4, layer_types=["conv", "full_attention", "sliding_attention", "conv"], sliding_window=8, conv_L_cache=7,
        tie_word_embeddings=True, rope_parameters=dict(
            sliding_attention=ROPE, full_attention=dict(rope_type="proportional", rope_theta=50000.0, partial_rotary_factor=0.5)))),
    "granite-spaces": ("GraniteMoeHybrid", SMALL | SPACES | dict(
        num_hidden_layers=3, mamba_n_groups=1, layer_types=["mamba", "attention", "mamba"], num_local_experts=4,
        num_experts_per_tok=2, intermediate_size=16, shared_intermediate_size=24, embedding_multiplier=0.7,
        attention_multiplier=0.2, residual_multiplier=0.5, logits_scaling=2.0, tie_word_embeddings=True)),
    "bamba": ("Bamba", SMALL | SPACES | dict(num_hidden_layers=3, mamba_n_groups=2, attn_layer_indices=[1],
                                             time_step_limit=[0.25, 1.0])),
    "nemotron_h": ("NemotronH", SMALL | SPACES_H | dict(
        layers_block_type=["linear_attention", "moe", "full_attention", "mlp", "moe"], n_routed_experts=6, num_experts_per_tok=2,
        n_shared_experts=1, moe_intermediate_size=16, moe_shared_expert_intermediate_size=24, moe_latent_size=16,
        routed_scaling_factor=1.5)),
    "olmo_hybrid": ("OlmoHybrid", SMALL | dict(
        num_hidden_layers=3, layer_types=["linear_attention", "full_attention", "linear_attention"], linear_num_key_heads=4,
        linear_num_value_heads=4, linear_key_head_dim=12, linear_value_head_dim=16, rope_parameters=ROPE)),
    "falcon_h1": ("FalconH1", SMALL | SPACES | dict(
        mamba_n_groups=2, mamba_d_ssm=64, mamba_rms_norm=True, mamba_norm_before_gate=False, rope_parameters=ROPE, **POWERS)),
    "falcon_h1-plain": ("FalconH1", SMALL | SPACES | dict(
        num_hidden_layers=1, mamba_n_groups=1, mamba_d_ssm=64, mamba_rms_norm=False, mamba_norm_before_gate=False, rope_parameters=ROPE,
        lm_head_multiplier=0.3, mlp_multipliers=[0.7, 1.3], key_multiplier=0.7, ssm_multipliers=[0.7, 1.3, 0.6, 1.7, 0.9])),
    "minimax_m3_vl_text": ("MiniMaxM3VLText", BLOCKS),
    "minimax_m3_vl": ("MiniMaxM3VL", dict(
        text_config=BLOCKS | dict(num_hidden_layers=2, layer_types=["minimax_m3_sparse"] * 2, mlp_layer_types=["sparse"] * 2), image_token_index=93, projector_hidden_size=16,
        video_token_index=94, vision_config=dict(SEES, num_channels=3, temporal_patch_size=2, spatial_merge_size=2))),
    "deepseek_v32": ("DeepseekV32", SMALL | SPARSE | dict(n_group=2, topk_group=1, rope_parameters=ROPE)),
    "glm_moe_dsa": ("GlmMoeDsa", SMALL | SPARSE | dict(num_hidden_layers=3, indexer_types=["full", "shared", "full"],
                                                       rope_parameters=ROPE)),
    "hy_v4": ("HYV4", SMALL | SPARSE | dict(num_hidden_layers=3, indexer_types=["full", "shared", "full"], hc_magnitude=1.5, hc_eps=1e-3,
                                            swiglu_limit=0.5, rope_parameters=ROPE)),
    "kimi_linear": ("KimiLinear", SMALL | LATENT | dict(
        num_hidden_layers=3, head_dim=None, q_lora_rank=None, num_local_experts=6, num_experts_per_tok=2, moe_intermediate_size=16,
        n_group=1, topk_group=1, routed_scaling_factor=1.5, linear_head_dim=12, linear_num_heads=4,
        layer_types=["linear_attention", "full_attention", "linear_attention"])),
    "minimax": ("MiniMax", SMALL | LIGHTNING | dict(
        linear_attn_alpha_factor=1.7, full_attn_alpha_factor=1.7, mlp_alpha_factor=2.3, linear_attn_beta_factor=1.2, full_attn_beta_factor=1.2,
        mlp_beta_factor=0.8)),
    "minimax_text_01": ("MiniMax", SMALL | LIGHTNING | dict(
        linear_attn_alpha_factor=1.7, full_attn_alpha_factor=1.7, mlp_alpha_factor=1.7)),
    "mamba": ("Mamba", SCANS | dict(use_bias=True, time_step_rank=8)),
    "falcon_mamba": ("FalconMamba", SCANS | dict(num_hidden_layers=2, state_size=8, mixer_rms_eps=1e-5, tie_word_embeddings=False)),
    "jamba": ("Jamba", SMALL | dict(
        num_hidden_layers=3, num_experts=4, num_experts_per_tok=2, expert_layer_period=2, expert_layer_offset=1, attn_layer_period=3,
        attn_layer_offset=1, mamba_d_state=8, mamba_d_conv=4, mamba_dt_rank=8, intermediate_size=32, use_mamba_kernels=False)),
    "bailing_hybrid": ("BailingHybrid", SMALL | LATENT | dict(
        num_hidden_layers=4, head_dim=12, q_lora_rank=None, num_local_experts=6, num_experts_per_tok=2, moe_intermediate_size=16, n_group=2,
        topk_group=1, routed_scaling_factor=1.5, first_k_dense_replace=1, layer_group_size=2, num_mtp_layers=0, rope_parameters=ROPE)),
    "mamba2": ("Mamba2", dict(vocab_size=96, hidden_size=32, num_hidden_layers=3, num_heads=4, head_dim=16, state_size=24,
                              n_groups=2, expand=2, use_bias=True, bos_token_id=1, eos_token_id=2, pad_token_id=0)),
}
OTHERS = {
    "deepseek_v4-published": ("DeepseekV4", COMPRESSED | dict(index_head_dim=24)),
    "gemma3n_text": ("Gemma3nText", GEMMA3N),
    "gemma3n": ("Gemma3nText", GEMMA3N | dict(vocab_size_per_layer_input=FEW - 64, num_kv_shared_layers=0, num_hidden_layers=2, laurel_rank=8,
                                              layer_types=["sliding_attention", "full_attention"],
                                              activation_sparsity_pattern=[0.0, 0.5], intermediate_size=[32, 48])),
    "gemma4_text": ("Gemma4Text", GEMMA | dict(vocab_size_per_layer_input=FEW, hidden_size_per_layer_input=8,
                                               num_hidden_layers=6, use_double_wide_mlp=True, num_kv_shared_layers=2,
                                               layer_types=["sliding_attention", "full_attention"] * 3)),
    "gemma4": ("Gemma4", GEMMA | ONE_KEY | dict(vocab_size_per_layer_input=FEW, hidden_size_per_layer_input=0,
                                                enable_moe_block=True, num_experts=6, top_k_experts=2,
                                                moe_intermediate_size=16)),
    "gemma4_unified": ("Gemma4Unified", GEMMA | ONE_KEY),
    "gemma3-siglip": ("Gemma3", dict(
        text_config=dict(SMALL, model_type="gemma3_text", num_hidden_layers=3, sliding_window=8, query_pre_attn_scalar=8,
                         layer_types=["sliding_attention", "sliding_attention", "full_attention"]),
        vision_config=SIGLIP, mm_tokens_per_image=1, image_token_index=93, boi_token_index=94, eoi_token_index=95)),
    "llava": ("Llava", dict(text_config=dict(SMALL, model_type="llama"), vision_config=CLIP, image_token_index=93)),
    "llava_next": ("LlavaNext", dict(text_config=dict(SMALL, model_type="mistral", sliding_window=8), vision_config=CLIP,
                                     image_token_index=93)),
    "llava_onevision": ("LlavaOnevision", dict(text_config=dict(SMALL, model_type="qwen2"), vision_config=SIGLIP,
                                               image_token_index=93, video_token_index=94)),
    "internvl": ("InternVL", dict(text_config=dict(SMALL, model_type="qwen3"), image_token_id=93, tie_word_embeddings=False,
                                  vision_config=dict(SEES, image_size=[16, 16], patch_size=[8, 8]))),
    "idefics3": ("Idefics3", dict(text_config=dict(SMALL, model_type="llama"), vision_config=SEES, image_token_id=93)),
    "smolvlm": ("SmolVLM", dict(text_config=dict(SMALL, model_type="llama"), vision_config=SEES, image_token_id=93,
                                tie_word_embeddings=True)),
    "lfm2_vl": ("Lfm2Vl", dict(
        text_config=dict(SMALL, model_type="lfm2", layer_types=["conv", "full_attention"], block_auto_adjust_ff_dim=False),
        vision_config=dict(SEES, model_type="siglip2_vision_model", num_patches=4, vision_use_head=False),
        projector_hidden_size=16, image_token_id=93)),
    "qwen2_audio": ("Qwen2Audio", dict(text_config=dict(SMALL, model_type="qwen2"), audio_config=HEARS, audio_token_index=93)),
    "ernie4_5_moe": ("Ernie4_5_Moe", SMALL | dict(num_hidden_layers=3, intermediate_size=64, moe_num_experts=6, moe_k=2,
                                                  moe_intermediate_size=16, moe_num_shared_experts=2, moe_layer_start_index=1)),
    "phimoe": ("Phimoe", SMALL | NEAR | dict(router_jitter_noise=0.01, attention_bias=True, lm_head_bias=True, rope_parameters=ROPE)),
    "phimoe-long": ("Phimoe", SMALL | NEAR | dict(
        router_jitter_noise=0.2, num_hidden_layers=1, max_position_embeddings=8192, rope_parameters=dict(
            rope_type="longrope", rope_theta=10000.0, short_factor=[1.0, 1.1, 1.3, 1.7], long_factor=[1.0, 2.0, 4.0, 8.0],
            short_mscale=1.2, long_mscale=1.2, original_max_position_embeddings=4096))),
    "dots1": ("Dots1", SMALL | dict(num_hidden_layers=3, n_routed_experts=6, n_shared_experts=1, num_experts_per_tok=2,
                                    moe_intermediate_size=16, first_k_dense_replace=1, norm_topk_prob=True,
                                    routed_scaling_factor=2.5, sliding_window=8, max_window_layers=3)),
    "solar_open": ("SolarOpen", SMALL | dict(n_routed_experts=6, n_shared_experts=1, num_experts_per_tok=2,
                                             moe_intermediate_size=16, norm_topk_prob=True, routed_scaling_factor=1.5)),
    "granitemoehybrid": ("GraniteMoeHybrid", SMALL | dict(num_local_experts=0, shared_intermediate_size=48, embedding_multiplier=3.0,
                                                          attention_multiplier=0.2, residual_multiplier=0.5, logits_scaling=2.0,
                                                          position_embedding_type="rope", tie_word_embeddings=True,
                                                          mamba_n_heads=8, layer_types=["full_attention"] * 2)),
    "qwen3_vl": ("Qwen3VL", dict(THREE, head_dim=16, rope_parameters=dict(ROPE, mrope_interleaved=True,
                                                                         mrope_section=[4, 2, 2]))),
    "qwen3_vl_moe": ("Qwen3VLMoe", dict(THREE, head_dim=16, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24,
                                        rope_parameters=dict(ROPE, mrope_interleaved=True, mrope_section=[4, 2, 2]))),
    "qwen3_vl_moe-plain": ("Qwen3VLMoe", dict(COMMON | dict(num_hidden_layers=2), num_experts=4, num_experts_per_tok=2,
                                              moe_intermediate_size=24, mlp_only_layers=[0], rope_parameters=dict(
                                                  ROPE, mrope_interleaved=True, mrope_section=[2, 2, 2]))),
    "qwen2_5_vl": ("Qwen2_5_VL", dict(THREE, rope_parameters=dict(ROPE, mrope_section=[2, 2, 2]))),
    "mistral3": ("Mistral3", dict(THREE, model_type="mistral", head_dim=16, sliding_window=None, rope_parameters=ROPE)),
    "glm4_moe": ("Glm4Moe", dict(THREE, **ROUTED, head_dim=16, attention_bias=True, use_qk_norm=True,
                                 first_k_dense_replace=1, rope_parameters=dict(ROPE, partial_rotary_factor=0.5))),
    "glm4_moe_lite": ("Glm4MoeLite", dict(THREE, **ROUTED, kv_lora_rank=32, q_lora_rank=24, qk_rope_head_dim=8,
                                          qk_nope_head_dim=12, v_head_dim=16, rope_parameters=ROPE,
                                          mlp_layer_types=["dense", "sparse", "sparse"]) | dict(num_key_value_heads=4)),
    "minimax_m2": ("MiniMaxM2", dict(THREE, head_dim=16, rotary_dim=8, num_local_experts=4, num_experts_per_tok=2) |
                   dict(intermediate_size=24)),
    "olmo3": ("Olmo3", dict(THREE, **WINDOWS, rope_parameters=dict(
        sliding_attention=ROPE, full_attention=dict(rope_type="yarn", rope_theta=10000.0, factor=4.0,
                                                    original_max_position_embeddings=32)))),
    "olmoe": ("Olmoe", dict(THREE, num_experts=6, num_experts_per_tok=2, rope_parameters=ROPE) | dict(intermediate_size=24)),
    "exaone4": ("Exaone4", dict(THREE, **WINDOWS, rope_parameters=ROPE)),
    "cohere2": ("Cohere2", dict(COMMON, sliding_window=8, layer_types=["sliding_attention"] * 3 + ["full_attention"],
                                logit_scale=0.5, rope_parameters=ROPE)),
    "seed_oss": ("SeedOss", dict(THREE, head_dim=16, rope_parameters=ROPE)),
    "arcee": ("Arcee", dict(THREE, rope_parameters=ROPE)),
    "ernie4_5": ("Ernie4_5", dict(THREE, head_dim=16, use_bias=True, rope_parameters=ROPE)),
    "hunyuan_v1_dense": ("HunYuanDenseV1", SMALL | dict(head_dim=16, tie_word_embeddings=True, rope_parameters=dict(
        rope_type="dynamic", rope_theta=10000.0, alpha=10.0, factor=1.0))),
    "hunyuan-plain": ("HunYuanDenseV1", SMALL | dict(head_dim=8, rope_parameters=ROPE)),
    "hunyuan_v1_moe": ("HunYuanMoEV1", SMALL | dict(num_experts=4, moe_topk=2, intermediate_size=24, rope_parameters=ROPE)),
    "ministral3": ("Ministral3", SMALL | dict(rope_parameters=GROWING)),
    "mistral3-ministral": ("Mistral3", dict(SMALL, model_type="ministral3", rope_parameters=GROWING)),
    "mistral4": ("Mistral4", SMALL | LATENT | dict(head_dim=12, n_routed_experts=6, num_experts_per_tok=2, moe_intermediate_size=16, n_group=2,
                                                   topk_group=1, routed_scaling_factor=1.5, first_k_dense_replace=1,
                                                   rope_parameters=GROWING)),
    "kimi_k25": ("Kimi_K25", dict(
        text_config=dict(SMALL | LATENT, head_dim=4, model_type="deepseek_v3", n_routed_experts=4, num_experts_per_tok=2,
                         moe_intermediate_size=16, n_group=1, topk_group=1, first_k_dense_replace=1, rope_parameters=ROPE),
        vision_config=dict(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, patch_size=4,
                           pos_emb_height=4, pos_emb_width=4), projection_hidden_size=16, image_token_id=91, video_token_id=92,
        vision_start_token_id=93, vision_end_token_id=94, tie_word_embeddings=False)),
    "deepseek_v2": ("DeepseekV2", SMALL | LATENT | dict(n_routed_experts=6, num_experts_per_tok=2, moe_intermediate_size=16,
                                                        first_k_dense_replace=1, routed_scaling_factor=1.5, n_group=1,
                                                        topk_group=1, topk_method="greedy", rope_parameters=ROPE)),
    "mimo_v2_flash": ("MiMoV2Flash", SMALL | dict(
        num_hidden_layers=3, head_dim=12, v_head_dim=8, sliding_window=8, n_routed_experts=4, num_experts_per_tok=2,
        moe_intermediate_size=16, layer_types=["full_attention", "sliding_attention", "sliding_attention"],
        rope_parameters={kind: dict(ROPE, partial_rotary_factor=0.334) for kind in ("full_attention", "sliding_attention")})),
    "llama4_text": ("Llama4Text", SMALL | LLAMA4),
    "llama4-published": ("Llama4Text", SMALL | LLAMA4 | dict(attention_chunk_size=8192, floor_scale=8192, attn_scale=0.1)),  # as GGUF has it always
    "llama4": ("Llama4", dict(
        text_config=SMALL | LLAMA4 | dict(use_qk_norm=False), image_token_index=93, boi_token_index=94, eoi_token_index=95,
        vision_config=dict(hidden_size=16, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, image_size=16,
                           patch_size=8, projector_input_dim=16, projector_output_dim=16, vision_output_dim=16))),
    "hy_v3": ("HYV3", SMALL | dict(num_hidden_layers=3, num_experts=4, num_experts_per_tok=2, num_shared_experts=1,
                                   moe_intermediate_size=16, router_scaling_factor=1.5, rope_parameters=ROPE,
                                   mlp_layer_types=["dense", "sparse", "sparse"])),
    "exaone_moe": ("ExaoneMoe", SMALL | dict(
        num_hidden_layers=3, num_experts=6, num_experts_per_tok=2, num_shared_experts=1, moe_intermediate_size=16, n_group=2,
        topk_group=1, sliding_window=8, layer_types=["sliding_attention", "sliding_attention", "full_attention"],
        rope_parameters=ROPE)),
    "afmoe": ("Afmoe", SMALL | dict(num_hidden_layers=4, num_experts=4, num_experts_per_tok=2, num_shared_experts=1,
                                    num_dense_layers=1, moe_intermediate_size=16, sliding_window=8, mup_enabled=True,
                                    rope_parameters=ROPE)),
    "granitemoe": ("GraniteMoe", SMALL | dict(num_local_experts=4, num_experts_per_tok=2, intermediate_size=16,
                                              embedding_multiplier=3.0, attention_multiplier=0.2, residual_multiplier=0.5,
                                              logits_scaling=2.0, tie_word_embeddings=True, rope_parameters=ROPE)),
    "glm": ("Glm", SMALL | dict(attention_bias=True, rope_parameters=dict(ROPE, partial_rotary_factor=0.5))),
    "gptj": ("GPTJ", dict(vocab_size=96, n_embd=32, n_layer=2, n_head=4, n_positions=1024, rotary_dim=4, bos_token_id=1,
                          eos_token_id=2)),
    "opt": ("OPT", dict(vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=48,
                        max_position_embeddings=128, word_embed_proj_dim=32, bos_token_id=1, eos_token_id=2, pad_token_id=0)),
    "gpt_bigcode": ("GPTBigCode", dict(vocab_size=96, n_embd=32, n_layer=2, n_head=4, n_positions=128,
                                       multi_query=True, bos_token_id=1, eos_token_id=2)),
    "bloom": ("Bloom", dict(vocab_size=96, hidden_size=48, n_layer=2, n_head=6, bos_token_id=1, eos_token_id=2)),
    "mpt": ("Mpt", dict(vocab_size=96, d_model=32, n_layers=2, n_heads=4, expansion_ratio=2, max_seq_len=128)),
    "falcon": ("Falcon", dict(vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, multi_query=True,
                              new_decoder_architecture=False, parallel_attn=True, bias=False, alibi=False, bos_token_id=1,
                              eos_token_id=2, rope_parameters=ROPE)),
    "falcon-new": ("Falcon", dict(vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_kv_heads=2,
                                  new_decoder_architecture=True, parallel_attn=True, bias=False, alibi=False, bos_token_id=1,
                                  eos_token_id=2, rope_parameters=ROPE)),
    "falcon-alibi": ("Falcon", dict(vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                                    multi_query=False, new_decoder_architecture=False, parallel_attn=False, bias=True,
                                    alibi=True, bos_token_id=1, eos_token_id=2, ffn_hidden_size=48)),
    "nemotron": ("Nemotron", SMALL | dict(rope_parameters=dict(ROPE, partial_rotary_factor=0.5))),
    "flex_olmo": ("FlexOlmo", SMALL | dict(num_experts=4, num_experts_per_tok=2, intermediate_size=16, rope_parameters=ROPE)),
    "step3p5": ("Step3p7", dict(text_config=SMALL | STEP, image_token_id=93, vision_config=STEP_VISION)),
    "step3p7": ("Step3p7", dict(
        text_config=SMALL | STEP | dict(
            num_hidden_layers=2, num_sliding_attention_heads=2, layer_types=["sliding_attention", "full_attention"], moe_layers_enum="1",
            swiglu_limits=None, swiglu_limits_shared=None, rope_theta=[10000.0, 50000.0], partial_rotary_factors=[1.0, 0.5], rope_scaling=None),
        image_token_id=93, vision_config=STEP_VISION)),
    "apertus": ("Apertus", SMALL | dict(rope_parameters=dict(
        rope_type="llama3", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=32, low_freq_factor=1.0, high_freq_factor=4.0))),
    "cohere2_moe": ("Cohere2Moe", SMALL | dict(
        num_hidden_layers=3, num_experts=4, num_experts_per_tok=2, intermediate_size=16, num_shared_experts=1, sliding_window=8, logit_scale=0.5,
        layer_types=["full_attention", "sliding_attention", "full_attention"], first_k_dense_replace=1, prefix_dense_intermediate_size=48,
        expert_selection_fn="sigmoid", tie_word_embeddings=True, rope_parameters=ROPE)),
    "cohere2_moe-soft": ("Cohere2Moe", SMALL | dict(
        num_experts=4, num_experts_per_tok=2, intermediate_size=16, sliding_window=8, logit_scale=0.5, rms_norm_eps=1e-6,
        layer_types=["sliding_attention", "full_attention"], tie_word_embeddings=True, rope_parameters=ROPE)),
    "vaultgemma": ("VaultGemma", SMALL | dict(sliding_window=8, query_pre_attn_scalar=8, attn_logit_softcapping=20.0,
                                              final_logit_softcapping=10.0,
                                              layer_types=["sliding_attention", "full_attention"], rope_parameters=ROPE)),
    "ministral": ("Ministral", SMALL | dict(sliding_window=8, layer_types=["sliding_attention", "full_attention"],
                                            rope_parameters=ROPE)),
    "qwen2_vl": ("Qwen2VL", dict(
        text_config=dict(SMALL, model_type="qwen2_vl_text", rope_parameters=dict(ROPE, mrope_section=[1, 1, 2])),
        vision_config=dict(depth=1, embed_dim=16, hidden_size=32, num_heads=2, patch_size=4), image_token_id=93,
        video_token_id=94, vision_start_token_id=91, vision_end_token_id=92)),
}


FOURS = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def four_bits(numbers):
    """Codes of MXFP4, and the exponents of their scales, one for 32 numbers."""
    blocks = numbers.reshape(*numbers.shape[:-1], -1, 32)
    exponents = (blocks.abs().amax(-1, keepdim=True).log2().floor() - 2).to(torch.int32)
    codes = (blocks.unsqueeze(-1) / 2.0 ** exponents.unsqueeze(-1) - FOURS).abs().argmin(-1)
    return codes.reshape(numbers.shape), exponents.squeeze(-1)


def of_four_bits(codes, exponents):
    return FOURS[codes] * 2.0 ** exponents.repeat_interleave(32, -1)


EIGHTS = ("self_attn.q_a_proj.", "self_attn.q_b_proj.", "self_attn.kv_proj.", "self_attn.o_a_proj.", "self_attn.o_b_proj.",
          "indexer.q_b_proj.", "shared_experts.")


def eight_bits(numbers):
    """Numbers of E4M3, and the exponents of their scales, one for 128 times 128."""
    exponents = torch.zeros([-(-extent // 128) for extent in numbers.shape], dtype=torch.int32)
    codes = torch.zeros_like(numbers)
    for row in range(exponents.shape[0]):
        for column in range(exponents.shape[1]):
            at = slice(row * 128, row * 128 + 128), slice(column * 128, column * 128 + 128)
            exponents[row, column] = (numbers[at].abs().max() / 448).log2().ceil().to(torch.int32)
            codes[at] = numbers[at] / 2.0 ** exponents[row, column]
    return codes.to(torch.float8_e4m3fn), exponents


def of_eight_bits(codes, exponents):
    scales = (2.0 ** exponents).repeat_interleave(128, 0).repeat_interleave(128, 1)
    return codes.float() * scales[:codes.shape[0], :codes.shape[1]]


def initialise(model, tied, eights=()):
    for name, parameter in model.named_parameters():
        if "conv" in name and parameter.dim() == 3:
            parameter.normal_(0, 0.5)
        elif name.endswith("A_log"):
            parameter.uniform_(-3, 1.5)  # from states that nearly stay to such as are gone within a chunk
        elif parameter.dim() >= 2:
            parameter.normal_(0, (0.3 if tied else 0.6) if "embed" in name else 0.9 / parameter.shape[-1] ** 0.5)
        elif "norm" in name or name.endswith("scale"):
            parameter.add_(torch.randn_like(parameter) * 0.1)
        else:
            parameter.normal_(0, 0.3)
        if "experts.gate_up_proj" in name or "experts.down_proj" in name:
            if model.config.model_type == "deepseek_v4":
                parameter.copy_(of_four_bits(*four_bits(parameter)))
        if any(part in name for part in eights):
            parameter.copy_(of_eight_bits(*eight_bits(parameter)))
        parameter.copy_(parameter.to(torch.bfloat16).float())
    for name, buffer in model.named_buffers():
        if name.endswith(("e_score_correction_bias", "expert_bias")):
            buffer.copy_(torch.randn_like(buffer).mul(0.1).to(torch.bfloat16))
        elif name.endswith("tid2eid"):
            buffer.copy_(torch.rand(len(buffer), model.config.n_routed_experts).argsort(-1)[:, :buffer.shape[-1]])
        elif name.endswith("layer_scalar"):
            buffer.uniform_(0.6, 1.2).copy_(buffer.to(torch.bfloat16))


SPARSE_KINDS = {"MiniMaxM3VL": "MiniMaxM3Sparse"}


def build(kind, arguments):
    """A model with its wrapper, where published checkpoints have one."""
    if "text_config" in arguments:
        return (getattr(transformers, kind + "Config")(**arguments),
                getattr(transformers, SPARSE_KINDS.get(kind, kind) + "ForConditionalGeneration"))
    vision = WRAPPED.get(kind)
    if vision is None:
        config = getattr(transformers, kind + "Config")(**arguments)
        return config, getattr(transformers, kind.removesuffix("Text") + "ForCausalLM")
    if kind.startswith("Gemma4"):
        tokens = dict(image_token_id=124, video_token_id=125, audio_token_id=126, boi_token_id=119, eoi_token_id=120,
                      boa_token_id=121, eoa_token_index=122)
        config = getattr(transformers, kind + "Config")(text_config=arguments, vision_config=vision, **tokens)
        return config, getattr(transformers, kind + "ForConditionalGeneration")
    tokens = dict(image_token_index=316, spatial_merge_size=2, tie_word_embeddings=False) if vision is PIXTRAL else dict(
        image_token_id=316, video_token_id=317, vision_start_token_id=318, vision_end_token_id=319)
    config = getattr(transformers, kind + "Config")(text_config=arguments, vision_config=vision, **tokens)
    return config, getattr(transformers, kind + "ForConditionalGeneration")


def vocabulary(model):
    return model.get_input_embeddings().num_embeddings


def greedy(model, ids, count):
    for _ in range(count):
        ids = torch.cat([ids, model(input_ids=ids, use_cache=False).logits[:, -1].argmax(-1, keepdim=True)], 1)
    return ids[0, -count:]


def lowest_first(self, k, dim=-1, largest=True, sorted=True):
    """torch.topk, which chooses at will among equal numbers, with the lowest positions first."""
    values, indices = torch.sort(self, dim=dim, descending=largest, stable=True)
    return torch.return_types.topk((values.narrow(dim, 0, k), indices.narrow(dim, 0, k)))


torch.Tensor.topk = lowest_first


def expect(model, lengths, count, rows):
    expected = {}
    for i, length in enumerate(lengths):
        ids = torch.randint(3, vocabulary(model) - 10, (1, length), generator=torch.Generator().manual_seed(SEED + length))
        expected[f"input_{i}"] = ids[0].to(torch.int32).contiguous()
        expected[f"logits_{i}"] = model(input_ids=ids, use_cache=False).logits[0, -rows:].float().contiguous()
        expected[f"greedy_{i}"] = greedy(model, ids, count).to(torch.int32).contiguous()
    return expected


def transpose_experts(path):
    """Published checkpoints of Qwen3-VL's experts are [inputs, outputs], what transformers writes is not."""
    tensors = load_file(path)
    for name, tensor in tensors.items():
        if ".experts." in name:
            tensors[name] = tensor.transpose(1, 2).contiguous()
    save_file(tensors, path, metadata={"format": "pt"})


def publish_layers(path):
    """Of Kimi K2.5 transformers gives the text's layers the name of the encoder's."""
    tensors = load_file(path)
    save_file({name.replace("language_model.model.blocks.", "language_model.model.layers."): tensor
               for name, tensor in tensors.items()}, path, metadata={"format": "pt"})


def wrap(folder):
    """Published checkpoints of Gemma 3n have encoders of pictures and sound beside the decoder, which is a part."""
    path = os.path.join(folder, "model.safetensors")
    save_file({name.replace("model.", "model.language_model.", 1): tensor for name, tensor in load_file(path).items()}, path,
              metadata={"format": "pt"})
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        text = json.load(file)
    with open(path, "w") as file:
        json.dump(dict(architectures=["Gemma3nForConditionalGeneration"], model_type="gemma3n", text_config=text), file,
                  indent=2, sort_keys=True)


def publish_sizes(path, arguments):
    """Published configurations of Gemma 4 have fields for the heads of full layers, what transformers 5 writes has a map."""
    with open(path) as file:
        config = json.load(file)
    del config["text_config"]["per_layer_config"]
    for field in ("global_head_dim", "num_global_key_value_heads"):
        config["text_config"][field] = arguments[field]
    with open(path, "w") as file:
        json.dump(config, file, indent=2, sort_keys=True)


PUBLISHED = {"linear_attention": "mamba", "full_attention": "attention"}


def publish_kinds(path):
    """Published configurations call layers with states mamba, and say of Bamba how much of a head turns."""
    with open(path) as file:
        config = json.load(file)
    if config["model_type"] == "bamba":
        config["attn_rotary_emb"] = config["head_dim"] // 2
    elif "layer_types" in config:
        config["layer_types"] = [PUBLISHED.get(kind, kind) for kind in config["layer_types"]]
    config["time_step_limit"] = [float("inf") if isinstance(bound, dict) else bound for bound in config["time_step_limit"]]
    with open(path, "w") as file:
        json.dump(config, file, indent=2, sort_keys=True)


def publish_kimi(folder):
    """Published configurations of Kimi Linear have fields of linear layers together, counting from 1, and plain feed-forwards that
    are no mixture's."""
    path = os.path.join(folder, "model.safetensors")
    plain = ".0.block_sparse_moe."
    save_file({name.replace(plain, ".0.mlp."): tensor for name, tensor in load_file(path).items()}, path,
              metadata={"format": "pt"})
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        config = json.load(file)
    kinds = config.pop("layer_types")
    del config["mlp_layer_types"]
    config |= dict(first_k_dense_replace=1, moe_layer_freq=1, mla_use_nope=True, moe_router_activation_func="sigmoid",
                   num_nextn_predict_layers=0, use_grouped_topk=True, rope_scaling=None, rope_theta=10000.0)
    config["linear_attn_config"] = dict(
        head_dim=config.pop("linear_head_dim"), num_heads=config.pop("linear_num_heads"),
        short_conv_kernel_size=config.pop("linear_conv_kernel_dim"),
        kda_layers=[i + 1 for i, kind in enumerate(kinds) if kind == "linear_attention"],
        full_attn_layers=[i + 1 for i, kind in enumerate(kinds) if kind == "full_attention"])
    with open(path, "w") as file:
        json.dump(config, file, indent=2, sort_keys=True)


def powers(exponents):
    return (exponents + 127).to(torch.uint8).view(torch.float8_e8m0fnu)


EIGHTS_PUBLISHED = (".wq_a.", ".wq_b.", ".attn.wkv.", ".wo_a.", ".wo_b.", ".shared_experts.")


def pack_deepseek4(tensors, eights):
    """Experts of four bits, two numbers in a byte, and other matrices of eight, if wanted; scales are powers of two."""
    packed = {}
    for name, tensor in tensors.items():
        base = name.removesuffix("weight")
        if ".experts." in name:
            codes, exponents = four_bits(tensor.float())
            packed[name] = (codes[:, ::2] | codes[:, 1::2] << 4).to(torch.uint8).view(torch.int8)
            packed[base + "scale"] = powers(exponents)
        elif eights and any(part in name for part in EIGHTS_PUBLISHED):
            packed[name], exponents = eight_bits(tensor.float())
            packed[base + "scale"] = powers(exponents)
        else:
            packed[name] = tensor
    return packed


def publish_deepseek4(folder, arguments):
    """Published checkpoints of DeepSeek V4 have names of their own, which transformers does not write as they were, and fields. Beside
    the plain one there is one with packed experts, as llama.cpp's converter wants it."""
    path = os.path.join(folder, "model.safetensors")
    names = {"model.embed_tokens.": "embed.", "model.hc_head.hc_": "hc_head_", "model.": "", ".attn.norm.": ".attn.kv_norm."}
    published = {}
    for name, tensor in load_file(path).items():
        for old, new in names.items():
            name = name.replace(old, new)
        published[name] = tensor
    is_published = folder.endswith("-published")
    if is_published:
        published = pack_deepseek4(published, True)
    save_file(published, path, metadata={"format": "pt"})
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        config = json.load(file)
    for field in ("compress_rates", "layer_types", "mlp_layer_types", "partial_rotary_factor", "rope_parameters"):
        del config[field]
    config |= {field: arguments[field] for field in ("compress_ratios", "num_hash_layers", "rope_scaling")}
    del config["rope_scaling"]["rope_type"]
    config["topk_method"] = "noaux_tc"
    coded = dict(expert_dtype="fp4", quantization_config=dict(
        activation_scheme="dynamic", fmt="e4m3", quant_method="fp8", scale_fmt="ue8m0", weight_block_size=[128, 128]))
    with open(path, "w") as file:
        json.dump(config | (coded if is_published else {}), file, indent=2, sort_keys=True)
    if not is_published:
        packed = folder + "-packed"
        os.makedirs(packed, exist_ok=True)
        save_file(pack_deepseek4(published, False), os.path.join(packed, "model.safetensors"), metadata={"format": "pt"})
        with open(os.path.join(packed, "config.json"), "w") as file:
            json.dump(config | coded, file, indent=2, sort_keys=True)


def publish_olmo(folder, arguments):
    """Published weights of OLMo Hybrid have a convolution each for queries, keys and values, which transformers writes back in thirds."""
    path = os.path.join(folder, "model.safetensors")
    tensors = load_file(path)
    keys, values = (arguments[f"linear_num_{kind}_heads"] * arguments[f"linear_{kind}_head_dim"] for kind in ("key", "value"))
    for layer, kind in enumerate(arguments["layer_types"]):
        base = f"model.layers.{layer}."
        if kind == "full_attention":
            tensors[base + "post_attention_layernorm.weight"] = tensors.pop(base + "feedforward_layer_norm.weight")
            continue
        names = [base + f"linear_attn.{one}_conv1d.weight" for one in "qkv"]
        all_taps = torch.cat([tensors[name] for name in names])
        tensors |= {name: taps.contiguous() for name, taps in zip(names, all_taps.split([keys, keys, values]))}
    save_file(tensors, path, metadata={"format": "pt"})


def publish_hy4(folder):
    """Of Hunyuan 4 transformers gives feed-forwards the name of attention's gates, and all that connects streams a prefix too early.
    Beside it there is one for llama.cpp's converter, whose rows that turn together are neighbours."""
    path = os.path.join(folder, "model.safetensors")
    published = {}
    for name, tensor in load_file(path).items():
        name = name.replace(".hc_pre.hc_head.", ".hc_head.").replace("_layer.hc_", "_layer.hc_pre.hc_").replace(".hc_pre.hc_attn", ".hc_attn")
        name = name.replace(".hc_pre.hc_mlp", ".hc_mlp")
        published[name if "self_attn" in name else name.replace(".linear_gate.", ".gate_proj.")] = tensor
    save_file(published, path, metadata={"format": "pt"})
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    head, index, turned = config["qk_head_dim"], config["index_head_dim"], config["qk_rope_head_dim"]
    sizes = {"self_attn.q_b_proj.": head, "kv_a_proj_with_mqa.": config["kv_lora_rank"] + turned, "indexer.wq_b.": index,
             "indexer.wk.": index, "indexer.k_norm.": index}
    for name, tensor in published.items():
        for part, size in sizes.items():
            if part in name:
                heads = tensor.clone().reshape(-1, size, *tensor.shape[1:])
                ends = heads[:, size - turned:]
                heads[:, size - turned:] = torch.stack([ends[:, :turned // 2], ends[:, turned // 2:]], 2).flatten(1, 2).clone()
                published[name] = heads.reshape(tensor.shape)
    neighbours = folder + "-neighbours"
    os.makedirs(neighbours, exist_ok=True)
    save_file(published, os.path.join(neighbours, "model.safetensors"), metadata={"format": "pt"})
    with open(os.path.join(neighbours, "config.json"), "w") as file:
        json.dump(config, file, indent=2, sort_keys=True)


def publish_ling(folder, arguments):
    """Published configurations of Ling 3 have names that transformers gives others, sizes of linear layers as those of all, and no types."""
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        config = json.load(file)
    for field in ("layer_types", "mlp_layer_types", "linear_conv_kernel_dim", "linear_head_dim", "linear_num_heads", "qk_head_dim"):
        del config[field]
    names = dict(model_max_length="max_position_embeddings", moe_renormalize="norm_topk_prob", num_expert_group="n_group",
                 num_experts_per_token="num_experts_per_tok")
    config = {names.get(field, field): value for field, value in config.items()}
    config |= dict(architectures=["BailingMoeV3ForCausalLM"], no_kda_lora=True, gated_attention_proj_granularity_type="head_wise",
                   moe_shared_expert_intermediate_size=config["moe_intermediate_size"], head_dim=arguments["head_dim"],
                   score_function="sigmoid", rope_theta=config.pop("rope_parameters")["rope_theta"])
    with open(path, "w") as file:
        json.dump(config, file, indent=2, sort_keys=True)


def publish_minimax(folder, arguments):
    """Published configurations of MiniMax 01 number types of layers, and have other names for factors; weights are without decays."""
    path = os.path.join(folder, "model.safetensors")
    decays = ("slope_rate", "_decay")
    save_file({name: tensor for name, tensor in load_file(path).items() if not name.endswith(decays)}, path, metadata={"format": "pt"})
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        config = json.load(file)
    for field in [field for field in config if field.endswith("_factor")] + ["block_size", "layer_types", "rope_parameters"]:
        del config[field]
    config |= dict(architectures=["MiniMaxText01ForCausalLM"], model_type="minimax_text_01", postnorm=True, rotary_dim=config["head_dim"],
                   rope_theta=arguments["rope_parameters"]["rope_theta"], shared_intermediate_size=0, shared_moe_mode="sigmoid",
                   attn_type_list=[int(kind == "full_attention") for kind in arguments["layer_types"]])
    for half, name in (("full_attention", "full_attn"), ("linear_attention", "linear_attn"), ("mlp", "mlp")):
        config[f"layernorm_{half}_alpha"], config[f"layernorm_{half}_beta"] = arguments[name + "_alpha_factor"], 1.0
    with open(path, "w") as file:
        json.dump(config, file, indent=2, sort_keys=True)


def publish_step(folder, arguments):
    """Published configurations of Step 3.5 have names of their own and lists with an entry for each layer, and no encoder."""
    path = os.path.join(folder, "model.safetensors")
    save_file({name: tensor for name, tensor in load_file(path).items() if not name.startswith("vi")}, path, metadata={"format": "pt"})
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        text = json.load(file)["text_config"]
    config = dict(architectures=["Step3p5ForCausalLM"], model_type="step3p5", moe_every_n_layer=1, moe_layer_offset=0, norm_expert_weight=True,
                  moe_router_activation="sigmoid", att_impl_type="GQA", use_head_wise_attn_gate=True, use_moe_router_bias=True,
                  need_fp32_gate=True, sink=False, use_moe=True, use_mfa=False, use_qk_norm=False, zero_centered=True,
                  yarn_only_types=["full_attention"], num_nextn_predict_layers=0, num_attention_groups=text["num_key_value_heads"],
                  moe_num_experts=text["n_routed_experts"], moe_top_k=text["num_experts_per_tok"],
                  attention_other_setting=dict(attention_type="sliding_attention", num_attention_heads=text["num_sliding_attention_heads"],
                                               num_attention_groups=text["num_key_value_heads"], head_dim=text["head_dim"],
                                               true_head_dim=text["head_dim"]))
    for field in ("hidden_size", "intermediate_size", "num_hidden_layers", "max_position_embeddings", "vocab_size", "num_attention_heads",
                  "head_dim", "moe_intermediate_size", "share_expert_dim", "moe_router_scaling_factor", "sliding_window", "layer_types",
                  "swiglu_limits", "swiglu_limits_shared", "bos_token_id", "eos_token_id", "pad_token_id"):
        config[field] = text[field]
    for field in ("moe_layers_enum", "rope_theta", "partial_rotary_factors", "rope_scaling"):
        config[field] = arguments["text_config"][field]
    with open(path, "w") as file:
        json.dump(config, file, indent=2, sort_keys=True)


def write(name, kind, arguments):
    torch.manual_seed(SEED + sum(name.encode()))
    config, model_class = build(kind, arguments)
    # of Falcon with ALiBi the eager attention adds the slopes twice
    config._attn_implementation = "sdpa" if name == "falcon-alibi" else "eager"
    model = model_class(config).float().eval()
    folder = os.path.join(OUT, name)
    os.makedirs(folder, exist_ok=True)
    with torch.no_grad():
        initialise(model, getattr(config, "tie_word_embeddings", False), EIGHTS if name.endswith("-published") else ())
        copy.deepcopy(model).to(torch.bfloat16).save_pretrained(folder)
        if name == "qwen3_vl_moe":
            transpose_experts(os.path.join(folder, "model.safetensors"))
        if name == "gemma3n":
            wrap(folder)
        if name == "kimi_k25":
            publish_layers(os.path.join(folder, "model.safetensors"))
        if name == "kimi_linear":
            publish_kimi(folder)
        if kind == "DeepseekV4":
            publish_deepseek4(folder, copy.deepcopy(arguments))
        if name == "hy_v4":
            publish_hy4(folder)
        if name == "bailing_hybrid":
            publish_ling(folder, arguments)
        if name == "minimax_text_01":
            publish_minimax(folder, arguments)
        if name == "olmo_hybrid":
            publish_olmo(folder, arguments)
        if name == "step3p5":
            publish_step(folder, arguments)
        if name == "gemma4":
            publish_sizes(os.path.join(folder, "config.json"), arguments)
        if name in MODELS and hasattr(config, "time_step_limit"):
            publish_kinds(os.path.join(folder, "config.json"))
        expected = expect(model, (1, 17, 45), 16, 45)
        save_file(expected, os.path.join(folder, "expected.safetensors"))
        if name in MODELS:
            lengths = expect(model, (1, 15, 16, 17, 63, 64, 65, 130, 1000), 8, 16)
            save_file(lengths, os.path.join(OUT, name + "-lengths.safetensors"))
    print(name, "std", float(expected["logits_2"].std()), expected["greedy_2"].tolist(), flush=True)


for name, (kind, arguments) in (MODELS | OTHERS).items():
    if not ONLY or name in ONLY:
        write(name, kind, arguments)
