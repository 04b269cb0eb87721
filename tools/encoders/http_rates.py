"""Rates of an encoder over HTTP, and how near its vectors are to PyTorch's.

    http_rates.py model FOLDER TOKENIZER     makes bge-base's shape with random weights; needs transformers
    http_rates.py rates URL FOLDER TOKENS TEXTS [CONNECTIONS [SECONDS]]
    http_rates.py cosine URL FOLDER          lowest cosine to the model's vectors in float32; needs transformers and tokenizers

TOKENIZER is a folder with the tokenizer.json of a BERT. A request has TEXTS texts of TOKENS tokens each, with those around them, all
different; vectors come back in base64. Connections ask again as soon as they have their answer, from four processes. Rates are those of
the answers that end in the time after a second of warming up; they are printed as CSV.
"""

import base64
import http.client
import json
import multiprocessing
import pathlib
import random
import struct
import sys
import threading
import time
import urllib.parse

PROCESSES = 4
COLUMNS = "tokens,texts_of_request,connections,seconds,requests,texts_per_s,tokens_per_s,ms_of_request_p50,ms_of_request_p99"


def make_model(folder, tokenizer):
    import shutil

    import torch
    import transformers

    torch.manual_seed(1)
    transformers.BertModel(transformers.BertConfig(), add_pooling_layer=False).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        if (tokenizer / name).exists():
            shutil.copy(tokenizer / name, folder / name)
    kinds = (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
    modules = [{"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"} for i, (path, kind) in enumerate(kinds)]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 768, "pooling_mode_cls_token": True}))


def words(folder):
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    return sorted(word for word in vocabulary if word.isascii() and word.isalpha() and word.islower())


def texts(all_words, count, tokens, chance):
    return [" ".join(chance.choices(all_words, k=tokens - 2)) for _ in range(count)]


def post(connection, body):
    connection.request("POST", "/v1/embeddings", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != 200:
        raise SystemExit(f"{answer.status}: {content[:500]}")
    return content


def body(folder, inputs):
    return json.dumps({"model": folder.name, "input": inputs, "encoding_format": "base64"}).encode()


def ask(host, bodies, begin, end, times):
    connection = http.client.HTTPConnection(host)
    turn = 0
    while time.time() < end:
        asked = time.time()
        post(connection, bodies[turn % len(bodies)])
        turn += 1
        now = time.time()
        if begin <= now < end:
            times.append(now - asked)


def load(host, folder, shape, connections, span, results, seed):
    chance = random.Random(seed)
    bodies = [body(folder, texts(words(folder), shape[1], shape[0], chance)) for _ in range(16)]
    times = []
    threads = [threading.Thread(target=ask, args=(host, bodies[i % 16 :] + bodies[: i % 16], *span, times)) for i in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put(times)


def rates(host, folder, tokens, count, connections, seconds):
    results = multiprocessing.Queue()
    begin = time.time() + 2
    arguments = (host, folder, (tokens, count), -(-connections // PROCESSES), (begin, begin + seconds), results)
    processes = [multiprocessing.Process(target=load, args=(*arguments, i)) for i in range(PROCESSES)]
    for process in processes:
        process.start()
    times = sorted(sum((results.get() for _ in processes), []))
    for process in processes:
        process.join()
    per_second = len(times) * count / seconds
    p50, p99 = (times[int(len(times) * part)] * 1e3 if times else float("nan") for part in (0.5, 0.99))
    print(f"{tokens},{count},{connections},{seconds},{len(times)},{per_second:.0f},{per_second * tokens:.0f},{p50:.1f},{p99:.1f}", flush=True)


def cosine(host, folder):
    import tokenizers
    import torch
    import transformers

    chance = random.Random(7)
    inputs = [texts(words(folder), 1, length, chance)[0] for length in (3, 5, 17, 50, 130, 300, 512) for _ in range(4)]
    data = json.loads(post(http.client.HTTPConnection(host), body(folder, inputs)))["data"]
    ours = torch.tensor([struct.unpack("<768f", base64.b64decode(one["embedding"])) for one in data], dtype=torch.float64)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    model = transformers.BertModel.from_pretrained(folder, add_pooling_layer=False).eval()
    lowest = 1.0
    with torch.no_grad():
        for text, vector in zip(inputs, ours):
            ids = torch.tensor([tokenizer.encode(text).ids])
            theirs = model(input_ids=ids).last_hidden_state[0, 0].double()
            lowest = min(lowest, torch.nn.functional.cosine_similarity(vector, theirs, 0).item())
    print(f"lowest cosine of {len(inputs)} texts: {lowest:.7f}", flush=True)


def main():
    what, *rest = sys.argv[1:]
    if what == "model":
        make_model(pathlib.Path(rest[0]), pathlib.Path(rest[1]))
    elif what == "cosine":
        cosine(urllib.parse.urlparse(rest[0]).netloc, pathlib.Path(rest[1]))
    else:
        numbers = [int(number) for number in rest[2:]] + [32, 5][len(rest) - 4 :]
        print(COLUMNS, flush=True)
        rates(urllib.parse.urlparse(rest[0]).netloc, pathlib.Path(rest[1]), *numbers)


if __name__ == "__main__":
    main()
