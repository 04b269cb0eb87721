#!/usr/bin/env python3
"""Turns a BERT in ONNX, as LangChain4j's jars on Maven Central carry it, into a folder of sentence-transformers, with
expected.safetensors for `roselle verify`, computed by ONNX Runtime in float32.
usage: onnx_encoder.py MODEL.onnx TOKENIZER.json OUT_DIR mean|cls HEADS

Needs onnx, onnxruntime, tokenizers, safetensors and numpy. Matrices that the exporter transposed and renamed (MatMul's second inputs)
are found by the nodes that add the biases, whose names are those of PyTorch's modules."""
import json, os, re, shutil, sys
import numpy as np
import onnx, onnxruntime
from onnx import numpy_helper
from safetensors.numpy import save_file
from tokenizers import Tokenizer

source, tokenizer_file, out, pooling, heads = sys.argv[1:6]
model = onnx.load(source)
stored = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
tensors = {re.sub(r"^(model\.|bert\.|auto_model\.)", "", name): array for name, array in stored.items()
           if name.endswith((".weight", ".bias")) and array.dtype == np.float32}
made = {output: node for node in model.graph.node for output in node.output}
for node in model.graph.node:  # bias + input @ matrix
    bias = next((i for i in node.input if node.op_type == "Add" and i in stored and i.endswith(".bias")), None)
    product = next((made[i] for i in node.input if i in made and made[i].op_type == "MatMul"), None)
    if bias and product is not None and product.input[1] in stored:
        name = re.sub(r"^(model\.|bert\.|auto_model\.)", "", bias)[:-len("bias")] + "weight"
        tensors[name] = np.ascontiguousarray(stored[product.input[1]].T)
os.makedirs(out, exist_ok=True)
save_file(tensors, os.path.join(out, "model.safetensors"))
layers = 1 + max(int(m.group(1)) for m in (re.search(r"layer\.(\d+)\.", name) for name in tensors) if m)
words, positions = tensors["embeddings.word_embeddings.weight"], tensors["embeddings.position_embeddings.weight"]


def write(name, value):
    os.makedirs(os.path.dirname(os.path.join(out, name)), exist_ok=True)
    with open(os.path.join(out, name), "w") as file:
        json.dump(value, file, indent=1)


write("config.json", dict(
    architectures=["BertModel"], model_type="bert", vocab_size=words.shape[0], hidden_size=words.shape[1],
    num_hidden_layers=layers, num_attention_heads=int(heads), hidden_act="gelu", layer_norm_eps=1e-12,
    intermediate_size=tensors["encoder.layer.0.intermediate.dense.bias"].shape[0],
    max_position_embeddings=positions.shape[0], type_vocab_size=tensors["embeddings.token_type_embeddings.weight"].shape[0]))
write("modules.json", [dict(idx=i, name=str(i), path=path, type=f"sentence_transformers.models.{kind}") for i, (kind, path) in
                       enumerate([("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")])])
write("1_Pooling/config.json", dict(word_embedding_dimension=words.shape[1], pooling_mode_cls_token=pooling == "cls",
                                    pooling_mode_mean_tokens=pooling == "mean"))
shutil.copy(tokenizer_file, os.path.join(out, "tokenizer.json"))

texts = ["Hi.", "How do I reset my password?", "Die Straße nach Zürich ist gesperrt; 東京 is 9,000 km away… naïve café!",
         "The central bank raised its key rate by a quarter of a point on Thursday, the tenth increase in a row. " * 12]
tokenizer = Tokenizer.from_file(tokenizer_file)
tokenizer.no_truncation()
tokenizer.no_padding()
session = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
names = [i.name for i in session.get_inputs()]
expected, listed = {}, []
for i, text in enumerate(texts):
    ids = tokenizer.encode(text).ids
    given = dict(input_ids=np.array([ids], np.int64), attention_mask=np.ones((1, len(ids)), np.int64),
                 token_type_ids=np.zeros((1, len(ids)), np.int64))
    hidden = session.run(None, {name: given[name] for name in names})[0][0]
    vector = hidden.mean(0) if pooling == "mean" else hidden[0]
    expected[f"input_{i}"] = np.array(ids, np.int32)
    expected[f"hidden_{i}"] = hidden
    expected[f"embedding_{i}"] = vector / np.linalg.norm(vector)
    listed.append(dict(texts=[text], ids=ids))
save_file(expected, os.path.join(out, "expected.safetensors"))
write("texts.json", listed)
print(len(tensors), "tensors,", layers, "layers, inputs of", [len(t["ids"]) for t in listed], "tokens")
