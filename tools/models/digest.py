#!/usr/bin/env python3
"""Prints the SHA-256 of the tensors of GGUF files: names, types, shapes and bytes, by name. usage: digest.py GGUF_PY FILE.gguf...

FolderRecipesTest has those of what convert.py makes of the tiny models; GGUF_PY is llama.cpp's folder gguf-py."""
import hashlib, pathlib, sys

sys.path.insert(0, sys.argv[1])
import gguf

for path in sys.argv[2:]:
    digest = hashlib.sha256()
    for tensor in sorted(gguf.GGUFReader(path).tensors, key=lambda tensor: tensor.name):
        shape = ",".join(str(int(extent)) for extent in reversed(tensor.shape))
        digest.update(f"{tensor.name} {tensor.tensor_type.name.lower()} {shape}\n".encode())
        digest.update(tensor.data.tobytes())
    print(pathlib.Path(path).stem, digest.hexdigest())
