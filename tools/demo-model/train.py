#!/usr/bin/env python3
"""Trains the demo model with PyTorch on one GPU: bf16, AdamW, cosine schedule, loss on what the assistant says.

usage: train.py DATA_DIR TOKENIZER_DIR OUT_DIR [--steps 12000] [--batch 64] [--lr 3e-3] [--seed 1]
DATA_DIR holds train-*.jsonl and held-out-*.jsonl of generate.py. Writes model.safetensors (bf16, Hugging Face's Llama names),
config.json, generation_config.json and training.json (sizes, loss, time). A small --steps runs on a CPU too, to try the script.
"""
import argparse
import glob
import json
import math
import multiprocessing
import os
import time
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from conversations import segments

CONTEXT = 1024
CONFIG = dict(architectures=["LlamaForCausalLM"], model_type="llama", vocab_size=4096, hidden_size=256, intermediate_size=768, num_hidden_layers=8, num_attention_heads=8,
              num_key_value_heads=4, head_dim=32, hidden_act="silu", max_position_embeddings=CONTEXT, rms_norm_eps=1e-5, rope_theta=10000.0, rope_scaling=None, attention_bias=False,
              mlp_bias=False, tie_word_embeddings=True, bos_token_id=0, eos_token_id=2, pad_token_id=0, initializer_range=0.02, torch_dtype="bfloat16", use_cache=True)


def encode_shard(job):
    """Ids (uint16), learn flags (uint8) and document lengths of one file."""
    from tokenizers import Tokenizer
    path, tokenizer_path = job
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    tokenizer = Tokenizer.from_file(tokenizer_path)
    special = {t["content"]: t["id"] for t in json.load(open(tokenizer_path, encoding="utf-8"))["added_tokens"]}
    cache, ids, learn, lengths = {}, [], [], []
    for line in open(path, encoding="utf-8"):
        begin = len(ids)
        for text, flag in segments(json.loads(line)):
            piece = cache.get(text)
            if piece is None:
                piece = [special[text]] if text in special else tokenizer.encode(text, add_special_tokens=False).ids
                if len(cache) < 50_000:
                    cache[text] = piece
            ids += piece
            learn += [flag] * len(piece)
        if len(ids) - begin > CONTEXT:
            del ids[begin + CONTEXT:], learn[begin + CONTEXT:]
        lengths.append(len(ids) - begin)
    return np.array(ids, np.uint16), np.array(learn, np.uint8), np.array(lengths, np.int32)


def pack(shards, rng):
    """Rows of CONTEXT + 1 tokens from shuffled whole documents: ids, learn flags, and the document's number in its row."""
    ids, learn, lengths = (np.concatenate(p) for p in zip(*shards))
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    rows, flags, owners = [], [], []
    row = np.zeros(CONTEXT + 1, np.uint16), np.zeros(CONTEXT + 1, np.uint8), np.zeros(CONTEXT + 1, np.uint8)
    used = number = 0
    for d in rng.permutation(len(lengths)):
        n = lengths[d]
        if used + n > CONTEXT + 1:
            row[2][used:] = 255
            rows.append(row[0]); flags.append(row[1]); owners.append(row[2])
            row = np.zeros(CONTEXT + 1, np.uint16), np.zeros(CONTEXT + 1, np.uint8), np.zeros(CONTEXT + 1, np.uint8)
            used = number = 0
        s = starts[d]
        row[0][used:used + n], row[1][used:used + n], row[2][used:used + n] = ids[s:s + n], learn[s:s + n], number
        used, number = used + n, number + 1
    return np.stack(rows), np.stack(flags), np.stack(owners)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        d, kv = c["hidden_size"], c["num_key_value_heads"] * c["head_dim"]
        self.c = c
        self.input_layernorm, self.post_attention_layernorm = nn.RMSNorm(d, c["rms_norm_eps"]), nn.RMSNorm(d, c["rms_norm_eps"])
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d, n, bias=False) for n in (d, kv, kv, d))
        self.gate_proj, self.up_proj, self.down_proj = nn.Linear(d, c["intermediate_size"], bias=False), nn.Linear(d, c["intermediate_size"], bias=False), nn.Linear(c["intermediate_size"], d, bias=False)

    def forward(self, x, cos, sin, mask):
        b, t, d = x.shape
        h = self.c["head_dim"]
        n = self.input_layernorm(x)
        q, k, v = (p(n).view(b, t, -1, h).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        x = x + self.o_proj(attend(q, k, v, mask).transpose(1, 2).reshape(b, t, d))
        n = self.post_attention_layernorm(x)
        return x + self.down_proj(F.silu(self.gate_proj(n)) * self.up_proj(n))


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return (x * cos + torch.cat((-b, a), -1) * sin).to(x.dtype)


def attend(q, k, v, mask):
    if isinstance(mask, torch.Tensor):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
    from torch.nn.attention.flex_attention import flex_attention
    return flex_attention(q, k, v, block_mask=mask, enable_gqa=True)


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.embed_tokens = nn.Embedding(c["vocab_size"], c["hidden_size"])
        self.layers = nn.ModuleList(Block(c) for _ in range(c["num_hidden_layers"]))
        self.norm = nn.RMSNorm(c["hidden_size"], c["rms_norm_eps"])
        for name, p in self.named_parameters():
            if p.dim() == 2:
                nn.init.normal_(p, 0, 0.02 / (math.sqrt(2 * c["num_hidden_layers"]) if name.endswith(("o_proj.weight", "down_proj.weight")) else 1))

    def forward(self, ids, cos, sin, mask):
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x, cos, sin, mask)
        return F.linear(self.norm(x), self.embed_tokens.weight)


def document_mask(owner):
    """Causal within each document: a block mask for the GPU, a dense one elsewhere."""
    if owner.is_cuda:
        from torch.nn.attention.flex_attention import create_block_mask
        return create_block_mask(lambda b, h, q, k: (q >= k) & (owner[b, q] == owner[b, k]), owner.shape[0], None, owner.shape[1], owner.shape[1], device=owner.device)
    t = owner.shape[1]
    return (torch.ones(t, t, dtype=torch.bool, device=owner.device).tril() & (owner[:, :, None] == owner[:, None, :]))[:, None]


def names(model):
    """Our parameters under Hugging Face's names."""
    for name, p in model.state_dict().items():
        name = name.replace("_orig_mod.", "")
        for part in ("q_proj", "k_proj", "v_proj", "o_proj"):
            name = name.replace("." + part, ".self_attn." + part)
        for part in ("gate_proj", "up_proj", "down_proj"):
            name = name.replace("." + part, ".mlp." + part)
        yield "model." + name, p.detach().to("cpu", torch.bfloat16).contiguous()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("data"); p.add_argument("tokenizer"); p.add_argument("out")
    p.add_argument("--steps", type=int, default=12_000)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--seconds", type=float, default=1e9, help="plan the schedule so that training ends within this time")
    a = p.parse_args()
    begin = time.time()
    torch.manual_seed(a.seed)
    torch.set_float32_matmul_precision("high")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    path = os.path.join(a.tokenizer, "tokenizer.json")
    files = {kind: sorted(glob.glob(os.path.join(a.data, kind + "-*.jsonl"))) for kind in ("train", "held-out")}
    with multiprocessing.Pool(min(16, os.cpu_count())) as pool:
        encoded = {kind: pool.map(encode_shard, [(f, path) for f in fs]) for kind, fs in files.items()}
    rng = np.random.default_rng(a.seed)
    packed = {kind: [torch.from_numpy(x) for x in pack(shards, rng)] for kind, shards in encoded.items()}
    tokens = {kind: int(sum(s[2].sum() for s in shards)) for kind, shards in encoded.items()}
    print(f"encoded {tokens} tokens, rows {[len(x[0]) for x in packed.values()]}, {time.time() - begin:.0f} s", flush=True)

    model = Model(CONFIG).to(device)
    count = sum(x.numel() for x in model.parameters())
    angles = torch.arange(CONTEXT)[:, None].float() * (CONFIG["rope_theta"] ** -(torch.arange(0, CONFIG["head_dim"], 2).float() / CONFIG["head_dim"]))[None]
    cos, sin = (f(torch.cat((angles, angles), -1)).to(device) for f in (torch.cos, torch.sin))
    decay = [x for x in model.parameters() if x.dim() == 2]
    rest = [x for x in model.parameters() if x.dim() < 2]
    optimizer = torch.optim.AdamW([dict(params=decay, weight_decay=0.1), dict(params=rest, weight_decay=0.0)], lr=a.lr, betas=(0.9, 0.95), fused=device == "cuda")

    def loss_of(ids, flags, owner, mask):
        with torch.autocast(device, torch.bfloat16):
            logits = model(ids[:, :-1], cos, sin, mask)
        wanted = torch.where((flags[:, 1:] == 1) & (owner[:, 1:] == owner[:, :-1]), ids[:, 1:], -100)
        return F.cross_entropy(logits.float().flatten(0, 1), wanted.flatten(), ignore_index=-100)

    step_loss = torch.compile(loss_of) if device == "cuda" else loss_of

    def batch(kind, rows):
        ids, flags, owner = (x[rows].to(device, non_blocking=True) for x in packed[kind])
        return ids.long(), flags, owner.int()

    def run(kind, rows):
        ids, flags, owner = batch(kind, rows)
        return step_loss(ids, flags, owner, document_mask(owner[:, :-1].contiguous()))

    @torch.no_grad()
    def held_out_loss():
        n = len(packed["held-out"][0]) // a.batch * a.batch
        return float(np.mean([run("held-out", torch.arange(i, i + a.batch)).item() for i in range(0, min(n, 16 * a.batch), a.batch)]))

    n, order, cursor, steps, started = len(packed["train"][0]), None, 0, a.steps, time.time()
    for step in range(10**9):
        if step == 200:  # compiled and warm: fit the schedule into the time
            started = time.time()
        if step == 400 and a.seconds < 1e8:
            torch.cuda.synchronize()
            steps = min(a.steps, 400 + int((a.seconds - (time.time() - begin)) / ((time.time() - started) / 200)))
            print(f"planned {steps} steps", flush=True)
        if step >= steps:
            break
        if order is None or cursor + a.batch > n:
            order, cursor = torch.from_numpy(rng.permutation(n)), 0
        rate = a.lr * min(1, (step + 1) / 300) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1, step / steps))))
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = run("train", order[cursor:cursor + a.batch])
        cursor += a.batch
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 500 == 0:
            print(f"step {step} loss {loss.item():.4f} {time.time() - begin:.0f} s", flush=True)
    final, held = loss.item(), held_out_loss()
    from safetensors.torch import save_file
    os.makedirs(a.out, exist_ok=True)
    save_file(dict(names(model)), os.path.join(a.out, "model.safetensors"), metadata={"format": "pt"})
    json.dump(CONFIG, open(os.path.join(a.out, "config.json"), "w"), indent=1)
    json.dump(dict(bos_token_id=0, eos_token_id=[2, 0], pad_token_id=0, do_sample=True, temperature=0.7, top_p=0.95), open(os.path.join(a.out, "generation_config.json"), "w"), indent=1)
    report = dict(parameters=count, training_tokens=tokens["train"], held_out_tokens=tokens["held-out"], steps=steps, tokens_per_step=a.batch * CONTEXT, learning_rate=a.lr, seed=a.seed,
                  training_loss=round(final, 4), held_out_loss=round(held, 4), seconds=round(time.time() - begin), device=torch.cuda.get_device_name() if device == "cuda" else "cpu",
                  torch=torch.__version__)
    json.dump(report, open(os.path.join(a.out, "training.json"), "w"), indent=1)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
