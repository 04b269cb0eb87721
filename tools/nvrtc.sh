#!/bin/sh
# Installs NVIDIA's run-time compiler from its Python wheel (90 MB), which needs no GPU: with it tests compile every kernel.
# usage: tools/nvrtc.sh FOLDER; does nothing where FOLDER has it already, and waits where another is installing it there.
# Prints the folder that has the library.
set -eu
[ $# = 1 ] || { sed -n 2,4p "$0" >&2; exit 64; }
folder=$1
libraries=$folder/nvidia/cu13/lib
if [ ! -e "$libraries/libnvrtc.so.13" ]; then
    mkdir -p "$folder"
    exec 9>"$folder/lock"
    flock 9
fi
if [ ! -e "$libraries/libnvrtc.so.13" ]; then # else the other one was faster
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" install --quiet --disable-pip-version-check --target "$folder" 'nvidia-cuda-nvrtc==13.0.*'
fi
echo "$libraries"
