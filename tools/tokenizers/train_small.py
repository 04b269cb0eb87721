"""Trains small tokenizers in the configurations of released model families and writes them as gzipped tokenizer.json.

Usage: python train_small.py OUTPUT_FOLDER        (needs: pip install tokenizers==0.23.* sentencepiece==0.2.*)
The text is generated (generated_text.py), so the files are of our own making.
"""

import base64
import gzip
import io
import json
import os
import sys

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

import generated_text

LINES = generated_text.lines(6000, seed=20261121)

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|"
    r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK3 = [
    r"\p{N}{1,3}",
    r"[一-龥぀-ゟ゠-ヿ]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+",
]
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
META = "▁"


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def byte_level(use_regex=False, prefix=False):
    return pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=use_regex)


def special(content, **flags):
    return AddedToken(content, special=True, normalized=False, **flags)


def plain(content, **flags):
    return AddedToken(content, special=False, **flags)


def byte_bpe(pre_tokenizer, specials, size=1000, normalizer=None, post=None, added=(), **model):
    tokenizer = Tokenizer(models.BPE(**model))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=specials, initial_alphabet=sorted(alphabet),
                                  show_progress=False)
    tokenizer.train_from_iterator(LINES, trainer)
    tokenizer.add_tokens(list(added))
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = post(tokenizer) if post else processors.ByteLevel(trim_offsets=False)
    return tokenizer


def template(single, *names):
    def build(tokenizer):
        return processors.TemplateProcessing(single=single, pair=single + " $B:1",
                                             special_tokens=[(n, tokenizer.token_to_id(n)) for n in names])
    return build


def with_byte_level(post):
    return lambda tokenizer: processors.Sequence([processors.ByteLevel(trim_offsets=False), post(tokenizer)])


def gpt2():
    return byte_bpe(byte_level(True), [special("<|endoftext|>")])


def roberta():
    def post(tokenizer):
        return processors.RobertaProcessing(("</s>", tokenizer.token_to_id("</s>")), ("<s>", tokenizer.token_to_id("<s>")),
                                            trim_offsets=True, add_prefix_space=False)
    tokens = [AddedToken(t, special=True, normalized=True) for t in ("<s>", "<pad>", "</s>", "<unk>")]
    return byte_bpe(byte_level(True), tokens + [special("<mask>", lstrip=True)], post=post)


def llama3():
    tokens = [special(t) for t in ("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|eot_id|>")]
    return byte_bpe(pre_tokenizers.Sequence([split(LLAMA3), byte_level()]), tokens, size=1400, ignore_merges=True,
                    post=with_byte_level(template("<|begin_of_text|> $A", "<|begin_of_text|>")))


def qwen2():
    tokens = [special(t) for t in ("<|endoftext|>", "<|im_start|>", "<|im_end|>")]
    return byte_bpe(pre_tokenizers.Sequence([split(QWEN2), byte_level()]), tokens, normalizer=normalizers.NFC(),
                    added=[plain("<tool_call>", normalized=False), plain("<think>", normalized=False)])


def deepseek3():
    parts = [split(p) for p in DEEPSEEK3] + [byte_level()]
    tokens = [special("<｜begin▁of▁sentence｜>"), special("<｜end▁of▁sentence｜>")]
    return byte_bpe(pre_tokenizers.Sequence(parts), tokens, added=[plain("<｜User｜>"), plain("<think>")],
                    normalizer=normalizers.Sequence([]),
                    post=template("<｜begin▁of▁sentence｜> $A", "<｜begin▁of▁sentence｜>"))


def tekken():
    tokens = [special(t) for t in ("<unk>", "<s>", "</s>", "[INST]", "[/INST]")]
    return byte_bpe(pre_tokenizers.Sequence([split(TEKKEN), byte_level()]), tokens, ignore_merges=True,
                    post=template("<s> $A", "<s>"))


def o200k():
    return byte_bpe(pre_tokenizers.Sequence([split(O200K), byte_level()]), [special("<|endoftext|>")],
                    added=[special("<|start|>"), special("<|end|>")])


def falcon():
    parts = [pre_tokenizers.Punctuation("contiguous"), byte_level(True), pre_tokenizers.Digits(individual_digits=False),
             split("[0-9][0-9][0-9]")]
    return byte_bpe(pre_tokenizers.Sequence(parts), [special(">>TITLE<<"), special("<|endoftext|>")])


def bloom():
    pattern = r" ?[^(\s|[.,!?…。，、।۔،])]+"
    return byte_bpe(pre_tokenizers.Sequence([split(pattern), byte_level()]), [special("<unk>"), special("<s>")])


def starcoder():
    parts = [pre_tokenizers.Digits(individual_digits=True), byte_level(True)]
    return byte_bpe(pre_tokenizers.Sequence(parts), [special("<|endoftext|>"), special("<fim_prefix>")])


def command_r():
    parts = [pre_tokenizers.Digits(individual_digits=True), byte_level(True)]
    return byte_bpe(pre_tokenizers.Sequence(parts), [special("<PAD>"), special("<BOS_TOKEN>")], normalizer=normalizers.NFC(),
                    post=template("<BOS_TOKEN> $A", "<BOS_TOKEN>"))


def gpt_neox():
    spaces = [plain(" " * n, normalized=True) for n in range(8, 1, -1)]
    return byte_bpe(byte_level(True), [special("<|endoftext|>"), special("<|padding|>")], normalizer=normalizers.NFC(),
                    added=spaces)


def olmo():
    spaces = [plain(" " * n, normalized=False) for n in range(8, 1, -1)]
    return byte_bpe(byte_level(True), [special("<|endoftext|>")], normalizer=normalizers.NFC(),
                    added=spaces + [plain("|||EMAIL_ADDRESS|||", normalized=False)],
                    post=template("$A <|endoftext|>", "<|endoftext|>"))


def clip():
    tokenizer = Tokenizer(models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "),
                                                 normalizers.Lowercase()])
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split(pattern, "removed", True), byte_level()])
    trainer = trainers.BpeTrainer(vocab_size=1200, special_tokens=[special("<|startoftext|>"), special("<|endoftext|>")],
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), end_of_word_suffix="</w>",
                                  show_progress=False)
    tokenizer.train_from_iterator(LINES, trainer)
    start, end = (tokenizer.token_to_id(t) for t in ("<|startoftext|>", "<|endoftext|>"))
    tokenizer.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.BPEDecoder("</w>")])
    tokenizer.post_processor = processors.RobertaProcessing(("<|endoftext|>", end), ("<|startoftext|>", start),
                                                            trim_offsets=False, add_prefix_space=False)
    return tokenizer


def gpt1():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.BpeTrainer(vocab_size=1000, special_tokens=["<unk>"], end_of_word_suffix="</w>", limit_alphabet=200,
                                  show_progress=False)
    tokenizer.train_from_iterator(LINES, trainer)
    tokenizer.decoder = decoders.BPEDecoder("</w>")
    return tokenizer


def byte_pieces():
    return [f"<0x{b:02X}>" for b in range(256)]


def fallback_bpe(size, specials, extra=(), keep_newline_runs=False):
    """A BPE model with byte pieces after the special tokens, trained on words that begin with the meta space."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", META)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(META, "merged_with_next")
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=specials + byte_pieces() + list(extra), limit_alphabet=150,
                                  show_progress=False)
    tokenizer.train_from_iterator([line.replace("\t", "").replace("\n", "") for line in LINES], trainer)
    saved = json.loads(tokenizer.to_str())
    saved["added_tokens"] = [t for t in saved["added_tokens"] if t["content"] in specials]
    return saved


def llama2():
    saved = fallback_bpe(1200, ["<unk>", "<s>", "</s>"])
    saved["normalizer"] = {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": META}, {"type": "Replace", "pattern": {"String": " "}, "content": META}]}
    saved["pre_tokenizer"] = None
    saved["post_processor"] = {"type": "TemplateProcessing",
                               "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                               "pair": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                                        {"Sequence": {"id": "B", "type_id": 1}}],
                               "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}}
    saved["decoder"] = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": META}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
    return saved


def legacy_merges(saved):
    saved["model"]["merges"] = [" ".join(pair) for pair in saved["model"]["merges"]]
    return saved


def phi3():
    saved = legacy_merges(llama2())
    for token in saved["added_tokens"]:
        token["rstrip"] = token["content"] == "</s>"
    base = max(saved["model"]["vocab"].values()) + 1
    for offset, content in enumerate(["<|endoftext|>", "<|assistant|>", "<|user|>", "<|end|>"]):
        saved["added_tokens"].append({"id": base + offset, "content": content, "single_word": False, "lstrip": False,
                                      "rstrip": content in ("<|assistant|>", "<|user|>", "<|end|>"), "normalized": False,
                                      "special": True})
    return saved


def gemma():
    saved = fallback_bpe(1300, ["<pad>", "<eos>", "<bos>", "<unk>"], extra=[META * n for n in range(2, 6)] + ["\n", "\n\n", "\t"])
    saved["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": META}
    saved["pre_tokenizer"] = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    bos = saved["model"]["vocab"]["<bos>"]
    saved["post_processor"] = {"type": "TemplateProcessing",
                               "single": [{"SpecialToken": {"id": "<bos>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                               "pair": [{"SpecialToken": {"id": "<bos>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                                        {"Sequence": {"id": "B", "type_id": 1}}],
                               "special_tokens": {"<bos>": {"id": "<bos>", "ids": [bos], "tokens": ["<bos>"]}}}
    saved["decoder"] = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": META}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]}
    saved["added_tokens"].append({"id": saved["model"]["vocab"]["\n\n"], "content": "\n\n", "single_word": False,
                                  "lstrip": False, "rstrip": False, "normalized": False, "special": False})
    return saved


def charsmap(rule, text=None):
    """The precompiled character map that SentencePiece ships for a rule, as tokenizer.json carries it."""
    output = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(text or LINES[:500]), model_writer=output, vocab_size=300,
                                             model_type="char", normalization_rule_name=rule, minloglevel=2,
                                             character_coverage=1.0, hard_vocab_limit=False)
    from sentencepiece import sentencepiece_model_pb2
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(output.getvalue())
    return base64.b64encode(proto.normalizer_spec.precompiled_charsmap).decode()


def unigram(normalizer, pre_tokenizer, specials, post, size=1000, unk="<unk>"):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    trainer = trainers.UnigramTrainer(vocab_size=size, special_tokens=specials, unk_token=unk, show_progress=False)
    tokenizer.train_from_iterator(LINES, trainer)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = post(tokenizer)
    return json.loads(tokenizer.to_str())


def with_charsmap(saved, rule):
    def fill(node):
        if isinstance(node, dict) and node.get("type") == "NFKC":
            return {"type": "Precompiled", "precompiled_charsmap": charsmap(rule)}
        if isinstance(node, dict) and node.get("type") == "Sequence":
            node["normalizers"] = [fill(n) for n in node["normalizers"]]
        return node
    saved["normalizer"] = fill(saved["normalizer"])
    return saved


def t5():
    saved = unigram(normalizers.NFKC(), pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(),
                                                                 pre_tokenizers.Metaspace()]),
                    ["<pad>", "</s>", "<unk>", "<extra_id_0>", "<extra_id_1>"], template("$A </s>", "</s>"))
    return with_charsmap(saved, "nmt_nfkc")


def xlm_roberta():
    saved = unigram(normalizers.NFKC(), pre_tokenizers.Metaspace(), ["<s>", "<pad>", "</s>", "<unk>", special("<mask>", lstrip=True)],
                    template("<s> $A </s>", "<s>", "</s>"))
    return with_charsmap(saved, "nfkc")


def albert():
    normal = normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(),
                                   normalizers.StripAccents(), normalizers.Lowercase(), normalizers.NFKC()])
    saved = unigram(normal, pre_tokenizers.Metaspace(), ["<pad>", "<unk>", "[CLS]", "[SEP]", special("[MASK]", lstrip=True)],
                    template("[CLS] $A [SEP]", "[CLS]", "[SEP]"))
    return with_charsmap(saved, "nmt_nfkc_cf")


def unigram_bytes():
    """Unigram with byte fallback, normalizers that the families above do not use, and a first-only prefix."""
    normal = normalizers.Sequence([normalizers.Nmt(), normalizers.NFD(), normalizers.Strip(True, False),
                                   normalizers.Replace(Regex(" {2,}"), " ")])
    saved = unigram(normal, pre_tokenizers.Metaspace(prepend_scheme="first", split=False),
                    ["<unk>"] + byte_pieces(), lambda t: processors.ByteLevel(trim_offsets=False), size=1200)
    saved["model"]["byte_fallback"] = True
    saved["added_tokens"] = saved["added_tokens"][:1]
    saved["decoder"] = {"type": "Sequence", "decoders": [{"type": "ByteFallback"},
                                                         {"type": "Metaspace", "replacement": META, "prepend_scheme": "first",
                                                          "split": False}]}
    return saved


def bert(lowercase):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=1500, show_progress=False, limit_alphabet=400,
                                        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.train_from_iterator(LINES, trainer)
    tokenizer.decoder = decoders.WordPiece()
    if lowercase:
        tokenizer.post_processor = template("[CLS] $A [SEP]", "[CLS]", "[SEP]")(tokenizer)
    else:
        tokenizer.post_processor = processors.BertProcessing(("[SEP]", tokenizer.token_to_id("[SEP]")),
                                                             ("[CLS]", tokenizer.token_to_id("[CLS]")))
    return tokenizer


def word_level():
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordLevelTrainer(vocab_size=500, special_tokens=["[UNK]", "[PAD]"], show_progress=False)
    tokenizer.train_from_iterator(LINES, trainer)
    tokenizer.add_tokens([plain("walking", single_word=True), plain("Tokenization", single_word=True, normalized=True)])
    return tokenizer


def ctc():
    tokenizer = Tokenizer(models.WordLevel({c: i for i, c in enumerate("<pad> <unk> | e t a o i n ' . ? !".split(" "))},
                                           unk_token="<unk>"))
    tokenizer.pre_tokenizer = split("", "isolated")
    tokenizer.decoder = decoders.CTC()
    return tokenizer


def byte_normalizer():
    """Byte level as a normalizer, with added tokens that are normalized."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=500, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
                                  special_tokens=["<s>"], show_progress=False, max_token_length=8)
    tokenizer.pre_tokenizer = pre_tokenizers.Split("Ġ", "merged_with_next")
    tokenizer.train_from_iterator(LINES[:1500], trainer)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


FAMILIES = {
    "gpt2": gpt2, "roberta": roberta, "llama3": llama3, "qwen2": qwen2, "deepseek3": deepseek3, "tekken": tekken,
    "o200k": o200k, "falcon": falcon, "bloom": bloom, "starcoder": starcoder, "command-r": command_r,
    "gpt-neox": gpt_neox, "olmo": olmo, "clip": clip, "gpt1": gpt1, "llama2": llama2, "phi3": phi3, "gemma": gemma, "t5": t5,
    "xlm-roberta": xlm_roberta, "albert": albert, "unigram-bytes": unigram_bytes, "bert-uncased": lambda: bert(True),
    "bert-cased": lambda: bert(False), "word-level": word_level, "ctc": ctc, "byte-normalizer": byte_normalizer,
}


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, build in FAMILIES.items():
        if len(sys.argv) > 2 and name not in sys.argv[2:]:
            continue
        built = build()
        saved = built if isinstance(built, dict) else json.loads(built.to_str())
        text = json.dumps(saved, ensure_ascii=False, separators=(",", ":"))
        Tokenizer.from_str(text)
        with open(os.path.join(folder, name + ".json.gz"), "wb") as file:
            file.write(gzip.compress(text.encode(), 9, mtime=0))
        print(name, len(text), "characters")


main()
