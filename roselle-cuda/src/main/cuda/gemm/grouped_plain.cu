// Products of chosen experts with 16-bit weights of the activations' type on sm_80 and later: linear_mma.cuh says how, and how to launch them.
#include "gemm/linear_mma.cuh"

GROUPED_BOTH_TYPES(FormatPlain, plain)
