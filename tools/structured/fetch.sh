#!/bin/sh
# Lays out what the comparison reads, in a folder: schemas, test suite, vocabulary, the engines of others.
# usage: fetch.sh FOLDER JSONSCHEMABENCH JSON-SCHEMA-TEST-SUITE   (clones, or bare git directories, of both repositories)
set -eu
folder=$1
bench=$2
suite=$3
here=$(cd "$(dirname "$0")" && pwd)
git_of() { # repository: its git directory
    if [ -d "$1/.git" ]; then echo "$1/.git"; else echo "$1"; fi
}
mkdir -p "$folder"
[ -d "$folder/data" ] || python3 "$here/extract.py" "$(git_of "$bench")" "$folder/data"
if [ ! -d "$folder/suite" ]; then
    mkdir -p "$folder/suite"
    git --git-dir "$(git_of "$suite")" archive HEAD tests remotes | tar -x -C "$folder/suite"
fi
if [ ! -f "$folder/qwen.tiktoken" ]; then
    pip download --quiet --no-deps --dest "$folder" dashscope
    python3 -m zipfile -e "$folder"/dashscope-*.whl "$folder/wheel"
    mv "$folder/wheel/dashscope/resources/qwen.tiktoken" "$folder/qwen.tiktoken"
    rm -rf "$folder/wheel"
fi
if [ ! -d "$folder/peers" ]; then
    pip install --quiet --target "$folder/peers" tiktoken numpy pydantic llguidance outlines_core
    pip install --quiet --target "$folder/peers" --no-deps xgrammar apache-tvm-ffi
fi
