"""Trains small SentencePiece models on generated text and writes them with vectors of texts, ids and decoded texts.

Usage: python train_sentencepiece.py OUTPUT_FOLDER        (needs: pip install sentencepiece==0.2.* protobuf)
"""

import gzip
import io
import json
import os
import random
import sys

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

import generated_text

LINES = [line.replace("\n", " ") for line in generated_text.lines(4000, seed=20261121)]

MODELS = {
    "unigram-bytes": dict(model_type="unigram", vocab_size=1000, byte_fallback=True, normalization_rule_name="identity",
                          user_defined_symbols=["<sep>", "▁▁", "walk", "12"], control_symbols=["<ctl>"]),
    "unigram-nfkc": dict(model_type="unigram", vocab_size=700, normalization_rule_name="nmt_nfkc"),
    "bpe-bytes": dict(model_type="bpe", vocab_size=1000, byte_fallback=True, normalization_rule_name="identity",
                      remove_extra_whitespaces=False, split_digits=True, user_defined_symbols=["<sep>", "▁▁▁", "ing"]),
    "bpe-unknown": dict(model_type="bpe", vocab_size=700, normalization_rule_name="identity", add_dummy_prefix=False,
                        allow_whitespace_only_pieces=True),
    "unigram-suffix": dict(model_type="unigram", vocab_size=600, normalization_rule_name="identity",
                           treat_whitespace_as_suffix=True),
}


def train(options):
    output = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(LINES), model_writer=output, minloglevel=2,
                                             character_coverage=0.98, num_threads=1, hard_vocab_limit=False,
                                             max_sentence_length=10000, **options)
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(output.getvalue())
    proto.trainer_spec.ClearField("input")
    return proto.SerializeToString(deterministic=True)


def texts(rng):
    pieces = generated_text.lines(400, seed=7) + [
        "", " ", "  ", "\t", "a", " a", "a ", "  a  b  ", "▁", "▁a", "a▁▁b", "<s>", "</s>", "<unk>", "<0x41>", "<sep>", "a<sep>b",
        "walking walks", "1212 123", "   three", "ｆｕｌｌｗｉｄｔｈ Ａ①ﬁ", "e\u0301 é", "\u0000x", "\u200b", "\ufeffx", "…", "x\u3000y",
        "\r\n", "a" * 300, "ab" * 200, " " * 50, "\U0001f9d1\u200d\U0001f680", "\U00013000", "\ufffd", "ÅÅ", "\u1100\u1161\u11a8"]
    for _ in range(400):
        parts = []
        for _ in range(rng.randint(1, 8)):
            kind = rng.random()
            if kind < 0.4:
                parts.append(rng.choice(pieces)[:rng.randint(1, 20)])
            elif kind < 0.6:
                parts.append("".join(chr(rng.choice([rng.randint(1, 0xD7FF), rng.randint(0xE000, 0x1FFFF)]))
                                     for _ in range(rng.randint(1, 4))))
            elif kind < 0.8:
                parts.append(rng.choice([" ", "  ", "\u00a0", "\u2003", "▁", "<sep>", "\n"]))
            else:
                parts.append(rng.choice(generated_text.WORDS))
        pieces.append("".join(parts))
    return pieces


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, options in MODELS.items():
        model = train(options)
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        rng = random.Random(11)
        vectors = []
        for text in texts(rng):
            ids = processor.encode(text)
            vectors.append({"text": text, "ids": ids, "decoded": processor.decode(ids)})
        for _ in range(400):
            ids = [rng.randrange(processor.get_piece_size()) for _ in range(rng.randint(1, 12))]
            vectors.append({"ids": ids, "decoded": processor.decode(ids)})
        with open(os.path.join(folder, name + ".model.gz"), "wb") as file:
            file.write(gzip.compress(model, 9, mtime=0))
        with open(os.path.join(folder, name + ".vectors.json.gz"), "wb") as file:
            file.write(gzip.compress(json.dumps(vectors).encode(), 9, mtime=0))
        print(name, len(model), "bytes,", processor.get_piece_size(), "pieces")


main()
