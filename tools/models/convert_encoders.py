#!/usr/bin/env python3
"""Writes the tiny encoders of make_encoders.py as GGUF with llama.cpp's own converter, tokenizers included.
usage: convert_encoders.py LLAMA_CPP TINY_ENCODERS OUT_DIR

LLAMA_CPP is a checkout with its folders conversion and gguf-py; the files of encoder-gguf are of that in llama-cpp-python 0.3.36.
What transformers 5 does not write and the converter reads is added to a copy: nomic_bert's names of its first release, the special
tokens of tokenizer_config.json, an empty map of characters, transformers' own names of sizes. Of embedding-gemma the dense layer is one without bias and function, as
the converter takes it, all layers have windows and scores the usual scale, of which a GGUF says nothing; embedding-gemma.safetensors
is what transformers computes then. Of nomic-bert-moe the converter leaves the bias of the experts out; nomic-bert-moe.safetensors is
what is computed without it."""
import importlib, json, pathlib, pkgutil, shutil, sys, tempfile

import torch, transformers
from safetensors.torch import load_file, save_file

llama, source, out = (pathlib.Path(argument) for argument in sys.argv[1:])
sys.path[:0] = [str(llama), str(llama / "gguf-py")]
import conversion, gguf
from conversion import base

for module in pkgutil.iter_modules(conversion.__path__):
    importlib.import_module("conversion." + module.name)

BERT = dict(unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", mask_token="[MASK]", tokenizer_class="BertTokenizer")
ROBERTA = dict(bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>", pad_token="<pad>", unk_token="<unk>",
               add_prefix_space=True, clean_up_tokenization_spaces=True, tokenizer_class="PreTrainedTokenizerFast")
END = dict(eos_token="</s>", pad_token="</s>", tokenizer_class="PreTrainedTokenizerFast")
NOMIC = dict(n_positions=8192, max_trained_positions=2048, activation_function="swiglu", causal=False, qkv_proj_bias=False,
             mlp_fc1_bias=False, mlp_fc2_bias=False, prenorm=False, rotary_emb_fraction=1.0, rotary_emb_interleaved=False,
             rotary_emb_scale_base=None, rotary_emb_base=1000, n_embd=32, n_head=2, n_layer=2, n_inner=48, layer_norm_epsilon=1e-12)
MODELS = {  # special tokens, how text is cut, what config.json gets
    "bert": (BERT, "jina-v2-en", {}),
    "bert-labels": (BERT, "jina-v2-en", {}),
    "distilbert": (BERT, "jina-v2-en", {}),
    "roberta": (ROBERTA, "roberta-bpe", {}),
    "xlm-roberta": (ROBERTA, "default", {}),
    "xlm-roberta-cross": (ROBERTA, "default", {}),
    "nomic-bert": (BERT, "jina-v2-en", NOMIC),
    "nomic-bert-moe": (ROBERTA | dict(tokenizer_class="XLMRobertaTokenizer"), "default", dict(
        n_positions=2048, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48, layer_norm_eps=1e-5,
        rope_parameters=dict(rope_type="default", rope_theta=10000.0))),
    "modernbert": (BERT, "modern-bert", {}),
    "modernbert-cross": (BERT, "modern-bert", {}),
    "eurobert": (BERT, "llama-bpe", dict(classifier_pooling="mean")),
    "embedding-gemma": (END, "gpt-2", dict(layer_types=["sliding_attention"] * 2, query_pre_attn_scalar=16)),
    "qwen3-embedding": (END, "gpt-2", {}),
    "qwen3-reranker": (dict(eos_token="<|endoftext|>", tokenizer_class="PreTrainedTokenizerFast"), "gpt-2", {}),
}
UNIGRAMS = ("xlm-roberta", "xlm-roberta-cross", "nomic-bert-moe")
WITHOUT_WORDS = ("modernbert", "modernbert-cross", "eurobert", "embedding-gemma")  # whose fixtures have another kind of tokenizer


def copy(name):
    tokens, _, more = MODELS[name]
    folder = pathlib.Path(shutil.copytree(source / name, pathlib.Path(tempfile.mkdtemp()) / name))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | more))
    (folder / "tokenizer_config.json").write_text(json.dumps(tokens))
    if name in UNIGRAMS:
        tokenizer = json.loads((folder / "tokenizer.json").read_text())
        tokenizer["normalizer"] = dict(type="Precompiled", precompiled_charsmap="")
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder


@torch.no_grad()
def behind_dense(folder):
    """Makes the dense layer one without bias and function, and computes what the model gives then."""
    file = folder / "2_Dense/model.safetensors"
    weight = load_file(file)["linear.weight"].to(torch.bfloat16).float()
    save_file({"linear.weight": weight}, file)
    model = transformers.Gemma3TextModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    reference = load_file(source / folder.name / "expected.safetensors")
    for i in range(3):
        hidden = model(input_ids=reference[f"input_{i}"][None].long()).last_hidden_state[0]
        reference[f"hidden_{i}"] = hidden.contiguous()
        reference[f"embedding_{i}"] = torch.nn.functional.normalize(weight @ hidden.mean(0), dim=0)
    save_file(reference, out / f"{folder.name}.safetensors")


@torch.no_grad()
def without_bias(folder):
    """Computes what the model gives without the bias of its experts, which the converter leaves out."""
    sys.argv[1:] = [str(out), "none"]
    from make_encoders import NomicMoe
    config = json.loads((folder / "config.json").read_text())
    model = NomicMoe(transformers.NomicBertConfig(
        hidden_size=config["n_embd"], num_hidden_layers=config["n_layer"], num_attention_heads=config["n_head"],
        intermediate_size=config["n_inner"], max_position_embeddings=514, layer_norm_eps=config["layer_norm_epsilon"],
        type_vocab_size=1, vocab_size=config["vocab_size"], pad_token_id=1, attn_implementation="eager",
        rope_parameters=dict(rope_type="default", rope_theta=config["rotary_emb_base"]))).eval().float()
    model.load_pretrained(folder)
    for layer in model.layers[1::2]:
        layer.mlp.bias.zero_()
    reference = load_file(source / folder.name / "expected.safetensors")
    for i in range(3):
        hidden = model(input_ids=reference[f"input_{i}"][None].long()).last_hidden_state[0]
        reference[f"hidden_{i}"] = hidden.contiguous()
        reference[f"embedding_{i}"] = torch.nn.functional.normalize(hidden.mean(0), dim=0)
    save_file(reference, out / f"{folder.name}.safetensors")


out.mkdir(exist_ok=True)
own = {kind: kind.set_vocab for kind in base.ModelBase._model_classes[base.ModelType.TEXT].values()}
for name in MODELS:
    folder = copy(name)
    architecture = base.ModelBase.load_hparams(folder, False)["architectures"][0]
    kind = base.ModelBase.from_model_architecture(architecture, model_type=base.ModelType.TEXT)
    base.TextModel.get_vocab_base_pre = lambda self, tokenizer, pre=MODELS[name][1]: pre
    kind.set_vocab = own[kind] if name not in WITHOUT_WORDS else lambda self: self.gguf_writer.add_tokenizer_model("none")
    if name == "embedding-gemma":
        behind_dense(folder)
    if name == "nomic-bert-moe":
        without_bias(folder)
    if name in UNIGRAMS:
        def of(path, *rest, **more):
            tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(source / folder.name / "tokenizer.json"), **{
                key: value for key, value in ROBERTA.items() if key.endswith("_token")})
            tokenizer.add_prefix_space, tokenizer.clean_up_tokenization_spaces = True, True
            tokenizer._convert_id_to_token = tokenizer.convert_ids_to_tokens
            return tokenizer
        transformers.AutoTokenizer.from_pretrained, kept = of, transformers.AutoTokenizer.from_pretrained
    converter = kind(dir_model=folder, ftype=gguf.LlamaFileType.MOSTLY_BF16, fname_out=out / f"{name}.gguf", model_name=name,
                     sentence_transformers_dense_modules=name == "embedding-gemma")
    converter.write()
    if name in UNIGRAMS:
        transformers.AutoTokenizer.from_pretrained = kept
    print(name, (out / f"{name}.gguf").stat().st_size)
