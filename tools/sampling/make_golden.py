#!/usr/bin/env python3
"""Writes the golden file of the sampling tests: what Hugging Face's LogitsProcessors make of random logits.

    python -m venv venv && venv/bin/pip install torch transformers
    venv/bin/python tools/sampling/make_golden.py > roselle-engine/src/test/resources/sampling/golden.json

Presence and frequency penalties, which Hugging Face lacks, are OpenAI's formula:
logit -= count * frequency + (count > 0) * presence, over the answer's tokens.
"""
import json
import random

import torch
import transformers
from transformers.generation import logits_process as hf

VOCABULARY = 48
ROWS = 6
CASES = 120


def chain(case):
    """The processors of a case, in the order that Roselle documents."""
    if case["repetition"] != 1:
        yield hf.RepetitionPenaltyLogitsProcessor(case["repetition"])
    if case["presence"] or case["frequency"]:
        prompt_length = len(case["prompt"])

        def penalize(ids, scores):
            counts = torch.bincount(ids[0, prompt_length:], minlength=VOCABULARY).float()
            return scores - counts * case["frequency"] - (counts > 0).float() * case["presence"]

        yield penalize
    if case["bias"]:
        yield hf.SequenceBiasLogitsProcessor([[[int(i)], b] for i, b in case["bias"].items()])
    if case["minTokens"]:
        yield hf.MinNewTokensLengthLogitsProcessor(len(case["prompt"]), case["minTokens"], case["stop"], device="cpu")
    if case["temperature"] == 0:
        return
    yield hf.TemperatureLogitsWarper(case["temperature"])
    if case["topK"]:
        yield hf.TopKLogitsWarper(case["topK"])
    if case["topP"] < 1:
        yield hf.TopPLogitsWarper(case["topP"])
    if case["minP"]:
        yield hf.MinPLogitsWarper(case["minP"])
    if case["typicalP"] < 1:
        yield hf.TypicalLogitsWarper(case["typicalP"])


def make(rng, rows):
    """One case: parameters, of which each is on about half of the time, and what they make of a row."""
    def sometimes(value, off):
        return value if rng.random() < 0.5 else off

    case = {
        "row": rng.randrange(ROWS),
        "prompt": [rng.randrange(VOCABULARY) for _ in range(rng.randrange(1, 8))],
        "output": [rng.randrange(VOCABULARY) for _ in range(rng.randrange(0, 8))],
        "repetition": sometimes(round(rng.uniform(0.6, 1.8), 2), 1.0),
        "presence": sometimes(round(rng.uniform(-2, 2), 2), 0.0),
        "frequency": sometimes(round(rng.uniform(-1, 1), 2), 0.0),
        "bias": sometimes({str(rng.randrange(VOCABULARY)): round(rng.uniform(-5, 5), 2) for _ in range(3)}, {}),
        "stop": sorted({rng.randrange(VOCABULARY) for _ in range(2)}),
        "minTokens": sometimes(rng.randrange(1, 10), 0),
        "temperature": 0.0 if rng.random() < 0.2 else round(rng.uniform(0.2, 2.0), 2),
        "topK": sometimes(rng.randrange(1, VOCABULARY), 0),
        "topP": sometimes(round(rng.uniform(0.05, 0.99), 3), 1.0),
        "minP": sometimes(round(rng.uniform(0.01, 0.5), 3), 0.0),
        "typicalP": sometimes(round(rng.uniform(0.1, 0.95), 3), 1.0),
    }
    ids = torch.tensor([case["prompt"] + case["output"]])
    scores = torch.tensor([rows[case["row"]]], dtype=torch.float32)
    raw = torch.log_softmax(scores.double(), dim=-1)[0]
    case["rawLogprobs"] = [round(x, 9) for x in raw.tolist()] if rng.random() < 0.1 else []
    for processor in chain(case):
        scores = processor(ids, scores)
    case["greedy"] = int(torch.argmax(scores[0]))
    probabilities = torch.softmax(scores.double(), dim=-1)[0].tolist()
    kept = [] if case["temperature"] == 0 else [i for i, x in enumerate(scores[0].tolist()) if x != float("-inf")]
    case["kept"] = {str(i): float("%.9g" % probabilities[i]) for i in kept}
    return case


def main():
    rng = random.Random(20261101)
    rows = [[round(rng.gauss(0, 3), 4) for _ in range(VOCABULARY)] for _ in range(ROWS)]
    cases = [make(rng, rows) for _ in range(CASES)]
    versions = "transformers %s, torch %s" % (transformers.__version__, torch.__version__)
    print(json.dumps({"from": versions, "vocabulary": VOCABULARY, "rows": rows, "cases": cases}, separators=(",", ":")))


if __name__ == "__main__":
    main()
