/** The contract of a device on NVIDIA GPUs, in kernels of our own. */
@NullMarked
package roselle.cuda;

import org.jspecify.annotations.NullMarked;
