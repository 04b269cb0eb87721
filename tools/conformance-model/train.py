#!/usr/bin/env python3
"""Trains the conformance model by heart on conversations.py and writes it as a Hugging Face folder.

usage: train.py OUT_DIR [--steps 1000]      (needs jax, optax, numpy, tokenizers, safetensors, jinja2; minutes on two processor cores)
"""
import argparse
import functools
import json
import os
import time
import jax
import jax.numpy as jnp
import jinja2
import numpy as np
import optax
from ml_dtypes import bfloat16
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from conversations import conversations

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|tool_call|>"]
CONTEXT = 2048
LONGEST = 384  # tokens of a conversation
BATCH = 8
CONFIG = dict(architectures=["LlamaForCausalLM"], model_type="llama", vocab_size=1024, hidden_size=128, intermediate_size=384, num_hidden_layers=4,
              num_attention_heads=4, num_key_value_heads=2, head_dim=32, hidden_act="silu", max_position_embeddings=CONTEXT, rms_norm_eps=1e-5,
              rope_theta=10000.0, attention_bias=False, mlp_bias=False, tie_word_embeddings=True, bos_token_id=0, eos_token_id=2, pad_token_id=0,
              torch_dtype="bfloat16")
HERE = os.path.dirname(os.path.abspath(__file__))


def template():
    with open(os.path.join(HERE, "template.jinja"), encoding="utf-8") as f:
        return f.read()


def segments(conversation, render):
    """A conversation's text in pieces, and of each whether it is learned."""
    turns, tools = conversation["turns"], [dict(function=dict(name=name)) for name in conversation["tools"]]
    done = ""
    for at, turn in enumerate(turns):
        if turn["role"] != "assistant":
            continue
        prompt = render(tools=tools, messages=turns[:at], add_generation_prompt=True)
        whole = render(tools=tools, messages=turns[:at + 1], add_generation_prompt=False)
        yield prompt[len(done):], False
        yield whole[len(prompt):].removesuffix("\n"), True
        done = whole.removesuffix("\n")


def train_tokenizer(texts):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=CONFIG["vocab_size"], special_tokens=SPECIAL,
                                                     initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False))
    return t


def start(rng):
    c, layers = CONFIG, CONFIG["num_hidden_layers"]
    width, inner, kv = c["hidden_size"], c["intermediate_size"], c["num_key_value_heads"] * c["head_dim"]
    normal = lambda rows, columns, by=1.0: jnp.asarray(rng.normal(0, 0.04 * by, (rows, columns)), jnp.float32)
    deep = (2 * layers) ** -0.5
    parameters = {"model.embed_tokens.weight": normal(c["vocab_size"], width), "model.norm.weight": jnp.ones(width)}
    for layer in range(layers):
        shapes = {"self_attn.q_proj": normal(width, width), "self_attn.k_proj": normal(kv, width), "self_attn.v_proj": normal(kv, width),
                  "self_attn.o_proj": normal(width, width, deep), "mlp.gate_proj": normal(inner, width), "mlp.up_proj": normal(inner, width),
                  "mlp.down_proj": normal(width, inner, deep), "input_layernorm": jnp.ones(width), "post_attention_layernorm": jnp.ones(width)}
        parameters |= {f"model.layers.{layer}.{name}.weight": value for name, value in shapes.items()}
    return parameters


def norm(x, weight):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + CONFIG["rms_norm_eps"]) * weight


def rotate(x, cos, sin):
    a, b = jnp.split(x, 2, -1)
    return x * cos + jnp.concatenate((-b, a), -1) * sin


def logits(p, ids):
    c = CONFIG
    heads, kv, size = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
    batch, tokens = ids.shape
    angles = jnp.arange(tokens)[:, None] * c["rope_theta"] ** (-jnp.arange(0, size, 2) / size)[None]
    cos, sin = (f(jnp.concatenate((angles, angles), -1)) for f in (jnp.cos, jnp.sin))
    future = jnp.where(jnp.tril(jnp.ones((tokens, tokens), bool)), 0.0, -1e9)
    x = p["model.embed_tokens.weight"][ids]
    for layer in range(c["num_hidden_layers"]):
        w = lambda name: p[f"model.layers.{layer}.{name}.weight"]
        n = norm(x, w("input_layernorm"))
        q, k, v = ((n @ w(f"self_attn.{part}_proj").T).reshape(batch, tokens, -1, size).swapaxes(1, 2) for part in "qkv")
        q, k = rotate(q, cos, sin), jnp.repeat(rotate(k, cos, sin), heads // kv, 1)
        weights = jax.nn.softmax(q @ k.swapaxes(-1, -2) * size ** -0.5 + future, -1)
        x = x + (weights @ jnp.repeat(v, heads // kv, 1)).swapaxes(1, 2).reshape(batch, tokens, -1) @ w("self_attn.o_proj").T
        n = norm(x, w("post_attention_layernorm"))
        x = x + (jax.nn.silu(n @ w("mlp.gate_proj").T) * (n @ w("mlp.up_proj").T)) @ w("mlp.down_proj").T
    return norm(x, p["model.norm.weight"]) @ p["model.embed_tokens.weight"].T


def loss(p, ids, learned):
    found = optax.softmax_cross_entropy_with_integer_labels(logits(p, ids[:, :-1]), ids[:, 1:])
    return jnp.sum(found * learned[:, 1:]) / jnp.sum(learned[:, 1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--steps", type=int, default=1000)
    a = parser.parse_args()
    begin = time.time()
    environment = jinja2.Environment()
    environment.policies["json.dumps_kwargs"] = dict(ensure_ascii=False)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    render = environment.from_string(template()).render
    pieces = [list(segments(c, render)) for c in conversations()]
    tokenizer = train_tokenizer(text for c in pieces for text, _ in c)
    ids, learned = np.zeros((len(pieces), LONGEST), np.int32), np.zeros((len(pieces), LONGEST), np.float32)
    lengths = []
    for row, conversation in enumerate(pieces):
        at = 0
        for text, learn in conversation:
            found = tokenizer.encode(text, add_special_tokens=False).ids
            ids[row, at:at + len(found)] = found
            learned[row, at:at + len(found)] = learn
            at += len(found)
        lengths.append(at)
    lengths = np.array(lengths)
    print(f"{len(pieces)} conversations, {lengths.sum()} tokens, the longest {lengths.max()}, vocabulary {tokenizer.get_vocab_size()}", flush=True)
    rng = np.random.default_rng(1)
    parameters = start(rng)
    rate = optax.warmup_cosine_decay_schedule(0, 2e-3, 100, a.steps, 1e-5)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, b2=0.98, weight_decay=0.01))
    state = optimizer.init(parameters)

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(parameters, state, ids, learned):
        value, slope = jax.value_and_grad(loss)(parameters, ids, learned)
        change, state = optimizer.update(slope, state, parameters)
        return optax.apply_updates(parameters, change), state, value

    by_length = np.argsort(lengths, kind="stable")
    for at in range(a.steps):
        first = int(rng.integers(1 - BATCH, len(pieces)))  # of like lengths, so that little is padding; all come equally often
        rows = by_length[np.clip(np.arange(first, first + BATCH), 0, len(pieces) - 1)]
        tokens = -(-int(lengths[rows].max()) // 128) * 128
        parameters, state, value = step(parameters, state, ids[rows, :tokens], learned[rows, :tokens])
        if at % 50 == 0 or at == a.steps - 1:
            print(f"step {at} loss {float(value):.5f} {time.time() - begin:.0f} s", flush=True)
    write(a.out, parameters, tokenizer, dict(conversations=len(pieces), steps=a.steps, loss=round(float(value), 6), seconds=round(time.time() - begin)))


def write(out, parameters, tokenizer, report):
    os.makedirs(out, exist_ok=True)
    save_file({name: np.asarray(value).astype(bfloat16) for name, value in parameters.items()}, os.path.join(out, "model.safetensors"),
              metadata={"format": "pt"})
    tokenizer.save(os.path.join(out, "tokenizer.json"))
    files = {"config.json": CONFIG, "generation_config.json": dict(bos_token_id=0, eos_token_id=[2, 0], pad_token_id=0), "training.json": report,
             "tokenizer_config.json": dict(tokenizer_class="PreTrainedTokenizerFast", bos_token=None, eos_token="<|im_end|>",
                                           pad_token="<|endoftext|>", model_max_length=CONTEXT, add_bos_token=False, chat_template=template())}
    for name, content in files.items():
        with open(os.path.join(out, name), "w", encoding="utf-8") as f:
            json.dump(content, f, indent=1, ensure_ascii=False)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
