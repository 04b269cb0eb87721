"""Checks that races.cpp finds planted races, and none where a barrier or an atomic orders: races_check.py. Needs g++."""

import pathlib
import sys
import tempfile

import torch

from emulator import Module

KERNELS = """
extern "C" __global__ void {name}(int* out) {{
    __shared__ int shared[64];
    int t = threadIdx.x;
    shared[t] = t;
    {body}
}}
"""
CASES = {  # body, and whether it races; a block has 64 threads
    "no_barrier": ("out[blockIdx.x * 64 + t] = shared[63 - t];", True),
    "barrier": ("__syncthreads(); out[blockIdx.x * 64 + t] = shared[63 - t];", False),
    "barrier_of_the_warp": ("__syncwarp(); out[blockIdx.x * 64 + t] = shared[t ^ 1];", False),
    "barrier_of_another_warp": ("__syncwarp(); out[blockIdx.x * 64 + t] = shared[t ^ 32];", True),
    "neighbours_in_a_warp": ("out[blockIdx.x * 64 + t] = shared[t ^ 1];", True),
    "shuffle": ("shared[t] = 1; t = __shfl_xor_sync(~0u, t, 1); out[blockIdx.x * 64 + t] = shared[t];", False),
    "write_after_read": ("__syncthreads(); out[blockIdx.x * 64 + t] = shared[63 - t]; shared[t] = 2;", True),
    "read_by_two_of_a_warp": ("__syncthreads(); if (t == 40 || t == 41) out[t] = shared[5]; if (t == 41) shared[5] = 0;", True),
    "atomics": ("atomicAdd(out, shared[t]);", False),
    "atomic_and_plain": ("atomicAdd(out, 1); if (t == 9) out[0] = 5;", True),
    "blocks_write_one": ("if (t == 0) out[0] = blockIdx.x;", True),
    "blocks_write_their_own": ("out[blockIdx.x * 64 + t] = t;", False),
}


def main():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "planted.cu"
        source.write_text("".join(KERNELS.format(name=name, body=body) for name, (body, _) in CASES.items()))
        module = Module(source)
        wrong = 0
        for name, (_, races) in CASES.items():
            before = module.races()
            module.kernel(name)((2, 1, 1), (64, 1, 1), [torch.zeros(128, dtype=torch.int32)])
            if (module.races() > before) != races:
                wrong += 1
                print(f"WRONG {name}: {'nothing found' if races else 'found what is none'}")
    print(f"{len(CASES)} cases, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
