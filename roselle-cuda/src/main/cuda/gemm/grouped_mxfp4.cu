// Products of chosen experts with MXFP4 weights on sm_80 and later: linear_mma.cuh says how, and how to launch them.
#include "gemm/linear_mma.cuh"

GROUPED_BOTH_TYPES(FormatMXFP4, mxfp4)
