#!/bin/sh
# Installs clang-format from its Python wheel (2 MB); a test holds kernels to its layout.
#
#   tools/clang-format.sh FOLDER    does nothing where FOLDER has it already; prints the program
#   "$(tools/clang-format.sh roselle-cuda/target/clang-format)" -i roselle-cuda/src/main/cuda/*/*.cu*      lays kernels out
set -eu
program=$1/bin/clang-format
if [ ! -x "$program" ]; then
    python3 -m venv "$1"
    "$1/bin/pip" install --quiet --disable-pip-version-check 'clang-format==19.1.7'
fi
echo "$program"
