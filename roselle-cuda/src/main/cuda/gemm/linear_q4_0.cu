// Products with Q4_0 weights on sm_80 and later: linear_mma.cuh says how, and how to launch them.
#include "gemm/linear_mma.cuh"

BOTH_TYPES(FormatQ4_0, q4_0)
