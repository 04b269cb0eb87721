#!/usr/bin/env python3
"""Writes LoRA adapters with random numbers for a folder that random_shape.py wrote, to time what they cost.
usage: random_adapters.py MODEL_DIR OUT_DIR COUNT [RANK [MODULE,...]]     (16, all products of Llama's layers)

OUT_DIR/0 to OUT_DIR/COUNT-1 have adapter_config.json and adapter_model.safetensors in bfloat16. Needs torch and safetensors."""
import json, os, sys
import torch
from safetensors.torch import save_file

MODEL, OUT, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
RANK = int(sys.argv[4]) if len(sys.argv) > 4 else 16
ALL = "q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj"
MODULES = (sys.argv[5] if len(sys.argv) > 5 else ALL).split(",")
config = json.load(open(os.path.join(MODEL, "config.json")))
width, inner, heads = config["hidden_size"], config["intermediate_size"], config["num_attention_heads"]
size = config.get("head_dim") or width // heads
keys = config["num_key_value_heads"] * size
SHAPES = {"q_proj": (heads * size, width), "k_proj": (keys, width), "v_proj": (keys, width), "o_proj": (width, heads * size),
          "gate_proj": (inner, width), "up_proj": (inner, width), "down_proj": (width, inner)}
device = "cuda" if torch.cuda.is_available() else "cpu"
for i in range(COUNT):
    tensors = {}
    for layer in range(config["num_hidden_layers"]):
        for module in MODULES:
            outputs, inputs = SHAPES[module]
            name = f"base_model.model.model.layers.{layer}.{'self_attn' if module[0] in 'qkvo' else 'mlp'}.{module}"
            for part, shape in (("A", (RANK, inputs)), ("B", (outputs, RANK))):
                tensors[f"{name}.lora_{part}.weight"] = (torch.randn(shape, device=device) * 0.02).to(torch.bfloat16).cpu()
    folder = os.path.join(OUT, str(i))
    os.makedirs(folder, exist_ok=True)
    save_file(tensors, os.path.join(folder, "adapter_model.safetensors"))
    json.dump({"peft_type": "LORA", "r": RANK, "lora_alpha": RANK, "target_modules": MODULES, "bias": "none"},
              open(os.path.join(folder, "adapter_config.json"), "w"))
