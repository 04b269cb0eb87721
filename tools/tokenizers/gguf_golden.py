#!/usr/bin/env python3
"""Writes small GGUF vocabularies of the models bert and t5, and the ids that llama.cpp gives to random texts.

Usage: python gguf_golden.py RESOURCES NODE_FOLDER
RESOURCES    roselle-engine/src/test/resources: its tokenizers/*.json.gz are read, its gguf/ is written
NODE_FOLDER  where `npm install node-llama-cpp@3.22.1` was run: it brings llama.cpp (release v0.5.0) as a library
Needs: pip install gguf==0.19.*
"""

import base64
import gzip
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata

from gguf import GGUFWriter, TokenType

import generated_text

MARK = "\u2581"
TEXTS = 500
BLOCK = 128


def read(resources, name):
    return json.loads(gzip.decompress((resources / "tokenizers" / f"{name}.json.gz").read_bytes()))


def write(path, model, tokens, types, scores=None, ids=None, flags=None, charsmap=None):
    writer = GGUFWriter(path, "bert" if model == "bert" else "t5")
    writer.add_tokenizer_model(model)
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    if scores:
        writer.add_token_scores(scores)
    for key, value in (ids or {}).items():
        writer.add_uint32(f"tokenizer.ggml.{key}_token_id", value)
    for key, value in (flags or {}).items():
        writer.add_bool(f"tokenizer.ggml.{key}", value)
    if charsmap:
        writer.add_precompiled_charsmap(charsmap)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def cased_letters():
    """Letters that a change of case or the loss of an accent may lead to."""
    for code_point in range(0x80, 0x1F000):
        character = chr(code_point)
        if unicodedata.category(character) == "Ll" and len(unicodedata.normalize("NFD", character)) == 1:
            yield character


def bert(resources, name, path, flags):
    """WordPiece as the converters write it: a word's beginning is marked, and not what goes on."""
    vocabulary = read(resources, name)["model"]["vocab"]
    tokens, types = [], []
    for token in sorted(vocabulary, key=vocabulary.get):
        special = token.startswith("[") and token.endswith("]") and len(token) > 2
        tokens.append(token if special else token[2:] if token.startswith("##") else MARK + token)
        types.append(TokenType.CONTROL if special else TokenType.NORMAL)
    for letter in cased_letters():
        if letter not in tokens:
            tokens.append(letter)
            types.append(TokenType.NORMAL)
    unique = list(dict.fromkeys(tokens))
    types = [types[tokens.index(token)] for token in unique]
    ids = {"unknown": vocabulary["[UNK]"], "cls": vocabulary["[CLS]"], "bos": vocabulary["[CLS]"],
           "seperator": vocabulary["[SEP]"], "padding": vocabulary["[PAD]"], "mask": vocabulary["[MASK]"]}
    write(path, "bert", unique, types, ids=ids, flags=flags)
    return unique


def t5(resources, name, path, flags, user_defined=(), has_map=True):
    file = read(resources, name)
    vocabulary = file["model"]["vocab"]
    special = {token["id"] for token in file["added_tokens"] if token["special"]}
    unknown = file["model"]["unk_id"]
    types = [TokenType.UNKNOWN if id == unknown else TokenType.CONTROL if id in special else TokenType.NORMAL
             for id in range(len(vocabulary))]
    tokens = [token for token, _ in vocabulary] + list(user_defined)
    types += [TokenType.USER_DEFINED] * len(user_defined)
    scores = [score for _, score in vocabulary] + [0.0] * len(user_defined)
    ids = {"unknown": unknown, "eos": tokens.index("</s>"), "padding": tokens.index("<pad>")}
    charsmap = base64.b64decode(file["normalizer"]["precompiled_charsmap"]) if has_map else None
    write(path, "t5", tokens, types, scores=scores, ids=ids, flags=flags, charsmap=charsmap)
    return tokens


SPACES = " \t\n\r\v\f\u0085\u00a0\u1680\u2003\u2028\u202f\u3000\u200b\ufeff"


def part(rng, tokens):
    kind = rng.randrange(9)
    if kind == 0:
        return "".join(rng.choice(SPACES) for _ in range(rng.randint(1, 4)))
    if kind == 1:
        first = rng.choice([0x20, 0xA0, 0x250, 0x300, 0x400, 0x600, 0x900, 0x1E00, 0x2000, 0x3000, 0xAC00, 0xFF00, 0x1D400,
                            0x1F300, rng.randrange(0x20000)])
        points = (first + rng.randrange(96) for _ in range(rng.randint(1, 6)))
        return "".join(chr(point) for point in points if not 0xD800 <= point <= 0xDFFF)
    if kind == 2:
        return "".join(chr(rng.randint(0x20, 0x7E)) for _ in range(rng.randint(1, 8)))
    if kind == 3:
        return rng.choice(tokens).replace(MARK, rng.choice([" ", MARK]))
    if kind == 4:
        return rng.choice("aeiouAEIOUnc") + "".join(chr(0x300 + rng.randrange(0x70)) for _ in range(rng.randint(1, 3)))
    if kind == 5:
        return rng.choice(generated_text.EMOJI)
    if kind == 6:
        return generated_text.word(rng, rng.choice(list(generated_text.SYLLABLES)))
    return rng.choice(["", " ", " "]) + generated_text.sentence(rng)


def random_texts(tokens, seed):
    rng = random.Random(seed)
    for _ in range(TEXTS):
        yield "".join(part(rng, tokens) for _ in range(rng.randint(0, rng.choice([2, 6, 20]))))


def every_code_point():
    """Each between two letters, of the planes that have characters for texts, and of tags: start and text of each block."""
    for start in [*range(0, 0x20000, BLOCK), 0xE0000, 0xE0080]:
        points = [point for point in range(max(1, start), start + BLOCK) if not 0xD800 <= point <= 0xDFFF]
        if points:
            yield start, " ".join(f"a{chr(point)}b" for point in points)


def ask(path, node_folder, texts):
    script = pathlib.Path(__file__).with_name("llama_cpp_ids.mjs").resolve()
    answer = subprocess.run(["node", script, pathlib.Path(node_folder).resolve(), path], input=json.dumps(texts), text=True,
                            stdout=subprocess.PIPE, check=True).stdout
    return json.loads(answer)


def golden(path, name, tokens, node_folder):
    texts = list(random_texts(tokens, name))
    answer = {"texts": texts, **ask(path, node_folder, texts)}
    if name.startswith("bert"):
        del answer["decoded"]  # llama.cpp puts a space before the text and takes some away within
        blocks = dict(every_code_point())
        answer["blocks"] = dict(zip(blocks, ask(path, node_folder, list(blocks.values()))["plain"]))
    return answer


def main(resources, node_folder):
    resources = pathlib.Path(resources)
    (resources / "gguf").mkdir(exist_ok=True)
    cased = {"normalizer.lowercase": False, "normalizer.strip_accents": False}
    merged = {"remove_extra_whitespaces": True, "add_space_prefix": True}
    kept = {"remove_extra_whitespaces": False, "add_space_prefix": False}
    makers = {
        "bert": lambda path: bert(resources, "bert-uncased", path, {}),
        "bert-cased": lambda path: bert(resources, "bert-cased", path, cased),
        "t5": lambda path: t5(resources, "t5", path, merged),
        "t5-spaces": lambda path: t5(resources, "t5", path, kept, ["<sep>", "running", "  "]),
        "t5-plain": lambda path: t5(resources, "xlm-roberta", path, {}, has_map=False),
    }
    for name, make in makers.items():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / f"{name}.gguf"
            tokens = make(path)
            answer = golden(path, name, tokens, node_folder)
            packed = {f"{name}.gguf.gz": path.read_bytes(), f"{name}.json.gz": json.dumps(answer).encode()}
            for file, content in packed.items():
                (resources / "gguf" / file).write_bytes(gzip.compress(content, 9, mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
