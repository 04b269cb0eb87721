#!/usr/bin/env python3
"""Writes the prompts with which the demo model's abilities are measured; none of them is in the training text.

usage: prompts.py OUT.json [--seed 77]
Heroes, names, cities and pairs of numbers are those that the training split never shows.
"""
import argparse
import json
from conversations import CALL, World, remember, sum_turn, tool_use


def messages(turns):
    return [{"role": role, "content": text} for role, text in turns]


def story_prompt(v):
    hero = v.hero()
    return {"messages": messages([("user", f"Tell me a story about {'an' if hero[0] in 'aeiou' else 'a'} {hero}.")]), "hero": hero}


def sum_prompt(v):
    while True:
        (_, ask), (_, answer) = sum_turn(v)
        if " + " in answer and "so" not in answer:
            a, b = answer.split(" = ")[0].split(" + ")
            return {"messages": messages([("user", ask)]), "sum": int(a) + int(b)}


def tool_prompt(v):
    while True:
        tools, turns = tool_use(v)
        if turns[1][1].startswith(CALL):
            return {"messages": messages(turns[:1]), "tools": tools, "call": json.loads(turns[1][1][len(CALL):])}


def recall_prompt(v):
    """A name given two turns before it is asked for."""
    while True:
        turns = remember(v)
        name = turns[-1][1].split()[-1].rstrip(".")
        if turns[-1][1].startswith(("Your name is", "You are")) and len(turns) == 6 and turns[2][1] != turns[0][1]:
            return {"messages": messages(turns[:-1]), "name": name}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out")
    p.add_argument("--seed", type=int, default=77)
    p.add_argument("--count", type=int, default=100)
    a = p.parse_args()
    v = World(a.seed, held_out=True)
    prompts = {kind: [make(v) for _ in range(a.count)] for kind, make in (("stories", story_prompt), ("sums", sum_prompt), ("tools", tool_prompt), ("names", recall_prompt))}
    json.dump(prompts, open(a.out, "w", encoding="utf-8"), indent=1, ensure_ascii=False)


if __name__ == "__main__":
    main()
