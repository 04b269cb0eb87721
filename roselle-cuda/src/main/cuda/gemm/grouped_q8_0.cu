// Products of chosen experts with Q8_0 weights on sm_80 and later: linear_mma.cuh says how, and how to launch them.
#include "gemm/linear_mma.cuh"

GROUPED_BOTH_TYPES(FormatQ8_0, q8_0)
