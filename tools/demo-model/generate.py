#!/usr/bin/env python3
"""Writes the demo model's training text as JSON lines, from grammars and word lists of our own.

usage: generate.py OUT_DIR [--documents 1500000] [--shards 16] [--seed 1] [--held-out]
With --held-out the names, cities, heroes and pairs of numbers are those that training never shows.
"""
import argparse
import json
import multiprocessing
import os
from conversations import World, document


def write_shard(job):
    path, seed, documents, held_out = job
    world = World(seed, held_out)
    with open(path, "w", encoding="utf-8") as out:
        for _ in range(documents):
            out.write(json.dumps(document(world), ensure_ascii=False) + "\n")
    return os.path.getsize(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--documents", type=int, default=1_500_000)
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--held-out", action="store_true")
    a = parser.parse_args()
    os.makedirs(a.out, exist_ok=True)
    jobs = [(os.path.join(a.out, f"{'held-out' if a.held_out else 'train'}-{i:02d}.jsonl"), a.seed * 1000 + i, a.documents // a.shards, a.held_out)
            for i in range(a.shards)]
    with multiprocessing.Pool(min(a.shards, os.cpu_count() or 1)) as pool:
        sizes = pool.map(write_shard, jobs)
    print(f"{a.documents} documents, {sum(sizes) / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
