"""MaskBench of one engine: the tokens of each instance under masks, to its end; one thread, in its processor time.

usage: peers.py ENGINE FOLDER FILES [TIMEOUT_S]
ENGINE is llguidance, xgrammar or outlines; FOLDER was made by fetch.sh; FILES lists names of schemas, a line each.
Prints one line of JSON as MaskBench.java does.
"""

import json
import multiprocessing
import os
import random
import resource
import sys
import time
from multiprocessing.connection import wait

PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
END = 151643
SIZE = 151646
MEMORY = 7 << 30


def vocabulary(folder):
    import base64

    import tiktoken

    with open(os.path.join(folder, "qwen.tiktoken"), "rb") as file:
        ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in file if line.strip())}
    special = {"<|endoftext|>": END, "<|im_start|>": 151644, "<|im_end|>": 151645}
    return tiktoken.Encoding("qwen", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens=special), ranks


def has_bit(words, token):
    return bool((int(words[0, token // 32]) >> (token % 32)) & 1)


class XGrammar:
    def __init__(self, encoding, ranks):
        import numpy
        import xgrammar

        self.xgrammar = xgrammar
        tokens = [b""] * SIZE
        for token, rank in ranks.items():
            tokens[rank] = token
        for token, rank in encoding._special_tokens.items():
            tokens[rank] = token.encode()
        about = xgrammar.TokenizerInfo(tokens, xgrammar.VocabType.RAW, vocab_size=SIZE, stop_token_ids=[END])
        self.compiler = xgrammar.GrammarCompiler(about, max_threads=1, cache_enabled=True)
        self.words = numpy.zeros((1, (SIZE + 31) // 32), numpy.int32)

    def compile(self, schema):
        self.grammar = self.compiler.compile_json_schema(json.dumps(schema), strict_mode=False)

    def begin(self):
        self.matcher = self.xgrammar.GrammarMatcher(self.grammar)

    def mask(self):
        self.matcher.fill_next_token_bitmask(self.words)

    def allows(self, token):
        return has_bit(self.words, token)

    def take(self, token):
        return self.matcher.accept_token(token)

    def accepts(self, tokens):
        self.begin()
        return all(self.matcher.accept_token(token) for token in tokens) and self.matcher.accept_token(END)


class LLGuidance:
    def __init__(self, encoding, ranks):
        import llguidance
        import llguidance.tiktoken
        from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask

        self.llguidance = llguidance
        self.fill = fill_next_token_bitmask
        self.tokenizer = llguidance.tiktoken.lltokenizer_from_encoding(encoding, n_vocab=SIZE, eos_token=END)
        self.words = allocate_token_bitmask(1, SIZE)

    def compile(self, schema):
        grammar = json.dumps({"grammars": [{"json_schema": schema}]})
        self.first = self.llguidance.LLMatcher(self.tokenizer, grammar, log_level=0)
        if self.first.is_error():
            raise ValueError(self.first.get_error())

    def begin(self):
        self.matcher = self.first.deep_copy()

    def mask(self):
        self.fill(self.matcher, self.words, 0)

    def allows(self, token):
        return has_bit(self.words, token)

    def take(self, token):
        if not self.allows(token):
            return False
        self.matcher.consume_token(token)
        return not self.matcher.is_error()

    def accepts(self, tokens):
        self.begin()
        return self.matcher.validate_tokens(tokens + [END]) == len(tokens) + 1


class Outlines:
    def __init__(self, encoding, ranks):
        import outlines_core
        from outlines_core.json_schema import build_regex_from_schema

        self.core = outlines_core
        self.expression = build_regex_from_schema
        tokens = {}
        for token, rank in ranks.items():
            tokens.setdefault(token, []).append(rank)
        self.tokens = outlines_core.Vocabulary(END, tokens)

    def compile(self, schema):
        self.index = self.core.Index(self.expression(json.dumps(schema)), self.tokens)

    def begin(self):
        self.guide = self.core.Guide(self.index)

    def mask(self):
        self.allowed = self.guide.get_tokens()

    def allows(self, token):
        return token in self.allowed

    def take(self, token):
        if token in self.allowed:
            self.guide.advance(token)
            return True
        return False

    def accepts(self, tokens):
        self.begin()
        for token in tokens:
            if token not in self.guide.get_tokens():
                return False
            self.guide.advance(token)
        return self.guide.is_finished() or END in self.guide.get_tokens()


ENGINES = {"llguidance": LLGuidance, "xgrammar": XGrammar, "outlines": Outlines}


def shuffled(value, order):
    if isinstance(value, dict):
        keys = list(value)
        order.shuffle(keys)
        return {key: shuffled(value[key], order) for key in keys}
    return [shuffled(item, order) for item in value] if isinstance(value, list) else value


def judge(engine, encoding, schema_file):
    """One schema: compile time, times of masks, and for each instance whether it is valid and was accepted to its end."""
    clock = time.thread_time_ns
    found = {"tests": len(schema_file["tests"]), "masks": [], "results": [], "variants": {}}
    before = clock()
    try:
        engine.compile(schema_file["schema"])
    except BaseException as refusal:
        return found | {"refused": str(refusal)[:200]}
    found["compile"] = clock() - before
    try:
        for test in schema_file["tests"]:
            plain = json.dumps(test["data"], ensure_ascii=False)
            engine.begin()
            goes_on = True
            for token in encoding.encode(plain, disallowed_special=()):
                before = clock()
                engine.mask()
                found["masks"].append(clock() - before)
                goes_on = engine.take(token)
                if not goes_on:
                    break
            if goes_on:
                engine.mask()
            accepted = goes_on and engine.allows(END)
            found["results"].append((bool(test["valid"]), accepted))
            if test["valid"] and accepted:
                vary(engine, encoding, test["data"], plain, found["variants"])
    except BaseException as fault:
        found["refused"] = "while running: " + str(fault)[:200]
    return found


def vary(engine, encoding, data, plain, variants):
    spellings = {
        "pretty": json.dumps(data, ensure_ascii=False, indent=2),
        "shuffled": json.dumps(shuffled(data, random.Random(7)), ensure_ascii=False),
        "escaped": json.dumps(data),
    }
    for name, text in spellings.items():
        if text != plain:
            count = variants.setdefault(name, [0, 0])
            count[0] += bool(engine.accepts(encoding.encode(text, disallowed_special=())))
            count[1] += 1


def work(name, folder, requests, results):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    encoding, ranks = vocabulary(folder)
    engine = ENGINES[name](encoding, ranks)
    results.send(None)
    while (file := requests.get()) is not None:
        with open(os.path.join(folder, "data", file)) as text:
            results.send(judge(engine, encoding, json.load(text)))


class Worker:
    """A process, so that an engine that hangs or dies costs one schema."""

    def __init__(self, name, folder):
        self.requests = multiprocessing.SimpleQueue()
        self.results, theirs = multiprocessing.Pipe(False)
        self.process = multiprocessing.Process(target=work, args=(name, folder, self.requests, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.results.recv()

    def judge(self, file, timeout):
        self.requests.put(file)
        if not wait([self.results], timeout):
            self.process.kill()
            return {"tests": 0, "refused": "out of time"}
        try:
            return self.results.recv()
        except EOFError:
            return {"tests": 0, "refused": "died"}


def percentiles(times, unit):
    times = sorted(times)
    at = lambda percent: round(times[min(len(times) - 1, int(len(times) * percent / 100))] / unit, 2)
    named = {"p50": at(50), "p99": at(99), "p99.9": at(99.9), "max": at(100)} if times else {}
    return {"count": len(times), "mean": round(sum(times) / max(1, len(times)) / unit, 2)} | named


def main():
    name, folder, list_of_files = sys.argv[1:4]
    timeout = float(sys.argv[4]) if len(sys.argv) > 4 else 60
    with open(list_of_files) as lines:
        files = [line.strip() for line in lines if line.strip()]
    worker, found = Worker(name, folder), []
    for file in files:
        one = worker.judge(file, timeout)
        if not worker.process.is_alive() or one.get("refused") in ("out of time", "died"):
            worker = Worker(name, folder)
        with open(os.path.join(folder, "data", file)) as text:
            one["tests"] = len(json.load(text)["tests"])
        found.append(one)
    tested = [one for one in found if one["tests"]]
    results = [result for one in found for result in one.get("results", [])]
    is_judged = lambda one: "refused" not in one
    summary = {
        "engine": name,
        "schemas": len(found),
        "withTests": len(tested),
        "right": sum(is_judged(one) and all(v == a for v, a in one["results"]) for one in tested),
        "refused": sum("refused" in one for one in found),
        "tooNarrow": sum(any(v and not a for v, a in one.get("results", [])) for one in found),
        "tooWide": sum(any(a and not v for v, a in one.get("results", [])) for one in found),
        "invalid": sum(not v for v, _ in results),
        "invalidAccepted": sum(a and not v for v, a in results),
        "variants": {
            kind: [sum(one.get("variants", {}).get(kind, [0, 0])[i] for one in found) for i in (0, 1)]
            for kind in ("pretty", "shuffled", "escaped")
        },
        "maskMicros": percentiles([time for one in found for time in one.get("masks", [])], 1e3),
        "compileMillis": percentiles([one["compile"] for one in found if "compile" in one], 1e6),
    }
    print(json.dumps(summary))


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    main()
