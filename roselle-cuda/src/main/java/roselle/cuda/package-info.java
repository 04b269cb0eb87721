/** NVIDIA GPUs as devices: they keep to the contract with the parts below, in kernels of our own. */
@NullMarked
package roselle.cuda;

import org.jspecify.annotations.NullMarked;
