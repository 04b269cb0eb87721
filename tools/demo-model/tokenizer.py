#!/usr/bin/env python3
"""Trains the demo model's byte-level BPE of 4,096 tokens on a sample of its training text and writes tokenizer.json.

usage: tokenizer.py DATA_DIR OUT_DIR      (needs the tokenizers package)
"""
import glob
import json
import os
import sys
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|tool_call|>", "<|think|>", "<|/think|>"]
TEMPLATE = (
    "{%- if tools %}"
    "{{- '<|im_start|>system\\n' }}"
    "{%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n' }}{%- endif %}"
    "{{- 'Tools:' }}{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}{{- '<|im_end|>\\n' }}"
    "{%- elif messages[0].role == 'system' %}{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}{%- endif %}"
    "{%- for message in messages %}"
    "{%- if message.role == 'system' %}{%- if not loop.first %}{{- raise_exception('a system message must come first') }}{%- endif %}"
    "{%- elif message.role in ['user', 'assistant', 'tool'] %}"
    "{{- '<|im_start|>' + message.role + '\\n' }}"
    "{%- if message.content %}{{- message.content }}{%- endif %}"
    "{%- for call in message.tool_calls or [] %}"
    "{{- '<|tool_call|>{\"name\": \"' + call.function.name + '\", \"arguments\": ' }}"
    "{%- if call.function.arguments is string %}{{- call.function.arguments }}{%- else %}{{- call.function.arguments | tojson }}{%- endif %}{{- '}' }}"
    "{%- endfor %}{{- '<|im_end|>\\n' }}"
    "{%- else %}{{- raise_exception('unknown role ' + message.role) }}{%- endif %}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- if enable_thinking is defined and enable_thinking %}{{- '<|think|>' }}{%- endif %}{%- endif %}"
)


def sample(folder, most=400_000):
    documents = 0
    for path in sorted(glob.glob(os.path.join(folder, "train-*.jsonl"))):
        for line in open(path, encoding="utf-8"):
            document = json.loads(line)
            yield document.get("text") or "\n".join(t for _, t in document["turns"]) + "".join(
                "\n" + json.dumps(tool, ensure_ascii=False) for tool in document["tools"])
            documents += 1
            if documents == most:
                return


def main():
    data, out = sys.argv[1:3]
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    t.train_from_iterator(sample(data), trainers.BpeTrainer(vocab_size=4096, special_tokens=SPECIAL, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    os.makedirs(out, exist_ok=True)
    t.save(os.path.join(out, "tokenizer.json"))
    with open(os.path.join(out, "tokenizer_config.json"), "w", encoding="utf-8") as f:
        json.dump({"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": None, "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "model_max_length": 1024,
                   "add_bos_token": False, "clean_up_tokenization_spaces": False, "chat_template": TEMPLATE}, f, indent=1, ensure_ascii=False)
    print(t.get_vocab_size(), "tokens")


if __name__ == "__main__":
    main()
