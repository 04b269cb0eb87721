#!/usr/bin/env python3
"""Writes a tiny model as GGUF with llama.cpp's own converter, without a vocabulary. usage: convert.py LLAMA_CPP MODEL OUT.gguf

LLAMA_CPP is a checkout with its folders conversion and gguf-py; the files of state-gguf and similar-gguf are of that in
llama-cpp-python 0.3.36. Of cohere2 the config.json was given "rotary_pct": 1.0, of glm4_moe_lite "first_k_dense_replace": 1,
of gemma4_unified "moe_intermediate_size": null, of solar_open "partial_rotary_factor": 1.0, since transformers 5 does not write
them, and the converter reads them or assumes something else; of hunyuan_v1_moe lists for each layer of "moe_topk",
"num_shared_expert" and "moe_intermediate_size", of mpt "architectures": ["MPTForCausalLM"], of phimoe ["PhiMoEForCausalLM"] and
"original_max_position_embeddings" among its "rope_parameters"; of deepseek_v4 it was the folder with packed experts, of hy_v4 that
whose rows are neighbours. Of step3p5 and bailing_hybrid the model_type was another, since transformers reads what the converter looks for. Of
granitemoehybrid without states it makes no whole file."""
import importlib, json, pathlib, pkgutil, shutil, sys, tempfile

llama, source, out = (pathlib.Path(argument) for argument in sys.argv[1:])
sys.path[:0] = [str(llama), str(llama / "gguf-py")]
if not (source / "tokenizer.json").exists():  # of Gemma the converter counts the tokens of one
    named = pathlib.Path(tempfile.mkdtemp()) / source.name
    source = pathlib.Path(shutil.copytree(source, named))
    config = json.loads((source / "config.json").read_text())
    tokens = {str(token): token for token in range(config.get("text_config", config)["vocab_size"])}
    (source / "tokenizer.json").write_text(json.dumps({"model": {"vocab": tokens}, "added_tokens": []}))
import conversion, gguf
from conversion import base

for module in pkgutil.iter_modules(conversion.__path__):
    importlib.import_module("conversion." + module.name)
for converter in base.ModelBase._model_classes[base.ModelType.TEXT].values():
    converter.set_vocab = lambda self: self.gguf_writer.add_tokenizer_model("none")
architecture = base.ModelBase.load_hparams(source, False)["architectures"][0]
converter = base.ModelBase.from_model_architecture(architecture, model_type=base.ModelType.TEXT)
converter.no_mtp = True
converter._get_suppress_tokens = lambda self: []  # which MiniMax 01 counts in a tokenizer
converter(dir_model=source, ftype=gguf.LlamaFileType.MOSTLY_BF16, fname_out=out, model_name=source.name).write()
