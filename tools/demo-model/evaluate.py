#!/usr/bin/env python3
"""A quick look at the trained model with Hugging Face transformers; the rates of the model card come from Roselle itself.

usage: evaluate.py MODEL_DIR PROMPTS.json       (MODEL_DIR with tokenizer.json and tokenizer_config.json)
"""
import json
import sys
import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast


def main():
    folder, prompts = sys.argv[1], json.load(open(sys.argv[2], encoding="utf-8"))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).to(device).eval()

    def answer(cases, **options):
        texts = [tokenizer.apply_chat_template(c["messages"], tools=c.get("tools"), add_generation_prompt=True, tokenize=False) for c in cases]
        batch = tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False, return_token_type_ids=False).to(device)
        out = model.generate(**batch, max_new_tokens=400, eos_token_id=[2, 0], pad_token_id=0, **options)
        return [tokenizer.decode(o[batch["input_ids"].shape[1]:], skip_special_tokens=False).split("<|im_end|>")[0] for o in out]

    def report(kind, judge, **options):
        cases = prompts[kind]
        answers = answer(cases, **options)
        good = [judge(c, t) for c, t in zip(cases, answers)]
        print(f"{kind}: {sum(good)} of {len(good)}")
        for c, t, g in list(zip(cases, answers, good))[:3] + [x for x in zip(cases, answers, good) if not x[2]][:5]:
            print("  ", "ok " if g else "BAD", c["messages"][-1]["content"], "->", t[:300].replace("\n", "\\n"))

    torch.manual_seed(1)
    report("stories", lambda c, t: t.strip().endswith((".", ".\"")) and c["hero"] in t, do_sample=True, temperature=0.7, top_k=0)
    report("sums", lambda c, t: t.strip().rstrip(".").split("= ")[-1] == str(c["sum"]), do_sample=False)
    report("tools", lambda c, t: call(t) == c["call"], do_sample=False)
    report("names", lambda c, t: c["name"] in t, do_sample=False)


def call(text):
    try:
        return json.loads(text.removeprefix("<|tool_call|>"))
    except ValueError:
        return None


if __name__ == "__main__":
    main()
