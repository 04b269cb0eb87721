"""Whether one API key learns from its first token's time what another has asked (docs/guide/security.md).

Key A asks a text of random words; then key B asks the same text and a fresh one, in random order. Prints the chance that a fresh
text's first token came later (AUC): 0.5 means that B learns nothing.

  ./roselle key keys.txt a --key-requests 1000000 --key-tokens 1000000000 > key.a      (and b)
  ./roselle serve demo --api-keys keys.txt
  python3 tools/server/first_token_times.py 8000 key.a key.b 1000
"""
import http.client
import json
import random
import statistics
import sys
import time

WORDS = "fox deep dark wood once upon time there was lived in the river stone house garden tree cat dog sun moon rain wind".split()
WARM_UP = 20


def ask(connection, key, text):
    body = json.dumps({"prompt": text, "max_tokens": 1, "stream": True, "temperature": 0})
    begin = time.perf_counter()
    connection.request("POST", "/v1/completions", body, {"content-type": "application/json", "authorization": "Bearer " + key})
    response = connection.getresponse()
    response.readline()
    seconds = time.perf_counter() - begin
    response.read()
    if response.status != 200:
        raise SystemExit(f"answered {response.status}")
    return seconds


def main(port, file_a, file_b, count):
    chance = random.Random(5)
    keys = {name: open(file).read().strip() for name, file in (("a", file_a), ("b", file_b))}
    connections = {name: http.client.HTTPConnection("127.0.0.1", port, timeout=60) for name in keys}
    times = {"asked": [], "fresh": []}
    for turn in range(count + WARM_UP):
        texts = {name: " ".join(chance.choice(WORDS) for _ in range(250)) for name in times}
        ask(connections["a"], keys["a"], texts["asked"])
        for name in chance.sample(sorted(times), 2):
            seconds = ask(connections["b"], keys["b"], texts[name])
            if turn >= WARM_UP:
                times[name].append(seconds)
    ranked = sorted((seconds, name) for name in times for seconds in times[name])
    ranks = sum(rank for rank, (_, name) in enumerate(ranked, 1) if name == "fresh")
    auc = (ranks - count * (count + 1) / 2) / count**2
    medians = {name: round(1000 * statistics.median(times[name]), 2) for name in times}
    print(f"{count} pairs: AUC {auc:.3f}, median milliseconds {medians}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
