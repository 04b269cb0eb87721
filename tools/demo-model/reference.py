#!/usr/bin/env python3
"""Writes expected.safetensors beside the demo model: what transformers computes for three prompts in float32 on the CPU.

usage: reference.py MODEL_DIR       (needs torch, transformers and safetensors; `roselle verify MODEL_DIR` compares)
"""
import os
import sys
import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

CONVERSATIONS = [
    [{"role": "user", "content": "Tell me a story about a fox."}],
    [{"role": "user", "content": "Hello, my name is Wendy."}, {"role": "assistant", "content": "Welcome, Wendy!"},
     {"role": "user", "content": "What is 17 + 25?"}, {"role": "assistant", "content": "17 + 25 = 42."}, {"role": "user", "content": "What is my name?"}],
    [{"role": "user", "content": "What is the capital of Hungary?"}],
]
NEW_TOKENS = 32


def main():
    folder = sys.argv[1]
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    expected = {}
    for i, messages in enumerate(CONVERSATIONS):
        text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        ids = torch.tensor([tokenizer(text, add_special_tokens=False)["input_ids"]])
        with torch.no_grad():
            logits, whole = model(ids).logits[0], ids
            for _ in range(NEW_TOKENS):  # plain greedy, the whole sequence recomputed at each step
                whole = torch.cat([whole, model(whole).logits[:, -1].argmax(-1, keepdim=True)], 1)
        greedy = whole[0, ids.shape[1]:]
        print(repr(tokenizer.decode(greedy)))
        expected |= {f"input_{i}": ids[0].to(torch.int32).contiguous(), f"logits_{i}": logits.contiguous(), f"greedy_{i}": greedy.to(torch.int32).contiguous()}
    save_file(expected, os.path.join(folder, "expected.safetensors"))


if __name__ == "__main__":
    main()
