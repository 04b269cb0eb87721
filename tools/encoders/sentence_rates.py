"""Rates of an encoder over HTTP beside sentence-transformers' encode() in float32, by turns.

    sentence_rates.py URL FOLDER [THREADS [ROUNDS]]

Needs sentence-transformers; a server at URL serves FOLDER on as many threads. Both get the same texts, of 50 or 512 tokens with those
around them, and both take them through their tokenizer; the server's way goes over a connection that is kept, vectors in base64. The
two take turns of five rounds and rest after each, since threads that wait may spin. Milliseconds are medians, and the lowest; CSV.
"""

import base64
import http.client
import json
import pathlib
import random
import statistics
import struct
import sys
import time
import urllib.parse

CASES = ((50, 1), (50, 8), (512, 1))
WARMING = 30
TURN = 5
REST_SECONDS = 0.2


def texts(folder, tokens, count):
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    words = sorted(word for word in vocabulary if word.isascii() and word.isalpha() and word.islower())
    chance = random.Random(31 * tokens + count)
    return [" ".join(chance.choices(words, k=tokens - 2)) for _ in range(count)]


def post(connection, folder, inputs):
    body = json.dumps({"model": folder.name, "input": inputs, "encoding_format": "base64"}).encode()
    connection.request("POST", "/v1/embeddings", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != 200:
        raise SystemExit(f"{answer.status}: {content[:500]}")
    return [base64.b64decode(one["embedding"]) for one in json.loads(content)["data"]]


def timed(run, rounds):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        run()
        times.append((time.perf_counter() - begin) * 1e3)
    return times


def cosine(one, other):
    def product(a, b):
        return sum(x * y for x, y in zip(a, b))

    return product(one, other) / (product(one, one) * product(other, other)) ** 0.5


def main():
    import sentence_transformers
    import torch

    url, folder = urllib.parse.urlparse(sys.argv[1]), pathlib.Path(sys.argv[2])
    threads, rounds = [int(number) for number in sys.argv[3:]] + [2, 40][len(sys.argv) - 3 :]
    torch.set_num_threads(threads)
    model = sentence_transformers.SentenceTransformer(str(folder), device="cpu")
    connection = http.client.HTTPConnection(url.netloc)
    print("tokens,texts,threads,roselle ms,lowest,sentence-transformers ms,lowest,ratio,ratio of lowest,lowest cosine", flush=True)
    for tokens, count in CASES:
        inputs = texts(folder, tokens, count)
        ways = (lambda: post(connection, folder, inputs), lambda: model.encode(inputs, batch_size=count))
        times = ([], [])
        for way in ways:
            timed(way, WARMING)
        for _ in range(0, rounds, TURN):
            for way, taken in zip(ways, times):
                taken += timed(way, TURN)
                time.sleep(REST_SECONDS)
        ours = [struct.unpack(f"<{len(vector) // 4}f", vector) for vector in ways[0]()]
        nearest = min(cosine(one, other.tolist()) for one, other in zip(ours, ways[1]()))
        medians, lowest = [[of(taken) for taken in times] for of in (statistics.median, min)]
        figures = f"{medians[0]:.3f},{lowest[0]:.3f},{medians[1]:.3f},{lowest[1]:.3f}"
        ratios = f"{medians[1] / medians[0]:.2f},{lowest[1] / lowest[0]:.2f}"
        print(f"{tokens},{count},{threads},{figures},{ratios},{nearest:.7f}", flush=True)


main()
