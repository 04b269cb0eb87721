// Products of chosen experts with Q5_K weights on sm_80 and later: linear_mma.cuh says how, and how to launch them.
#include "gemm/linear_mma.cuh"

GROUPED_BOTH_TYPES(FormatQ5_K, q5_k)
