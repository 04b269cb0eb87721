#!/usr/bin/env python3
"""Writes text that the demo model was not trained on, on which its perplexity is measured: a JSON array of documents.

usage: held_out.py OUT.json [--seed 2] [--documents 60]
The documents are the first of those that the training's held-out loss was measured on. Each is an array of pieces, a text and
whether it counts (1) or only stands before what does (0), as in training.
"""
import argparse
import json
from conversations import World, document, segments


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--documents", type=int, default=60)
    a = parser.parse_args()
    world = World(a.seed * 1000, True)
    with open(a.out, "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(segments(document(world)), ensure_ascii=False) for _ in range(a.documents)) + "\n]\n")


if __name__ == "__main__":
    main()
