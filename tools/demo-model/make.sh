#!/bin/sh
# Makes the demo model from nothing on one GPU: text, tokenizer, training, a quick look at what it can do.
# usage: make.sh OUT_DIR [seconds for training, 500]      needs Python with torch, tokenizers, transformers, numpy
set -eu
out=$1
here=$(cd "$(dirname "$0")" && pwd)
data=${TMPDIR:-/tmp}/demo-model-text
python3 "$here/generate.py" "$data" --documents 4000000 --seed 1
python3 "$here/generate.py" "$data" --documents 16000 --seed 2 --held-out
python3 "$here/tokenizer.py" "$data" "$out"
python3 "$here/train.py" "$data" "$out" "$out" --steps 20000 --seconds "${2:-500}"
python3 "$here/prompts.py" "$data/prompts.json"
python3 "$here/evaluate.py" "$out" "$data/prompts.json"
