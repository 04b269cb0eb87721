/** NVIDIA's run-time compiler as Java calls: CUDA C++ in, a cubin out. */
@NullMarked
package roselle.cuda.nvrtc;

import org.jspecify.annotations.NullMarked;
