/** What adapters add to products on GPUs: low-rank matrices in device memory, and the kernels that shrink and expand rows with them. */
@NullMarked
package roselle.cuda.adapter;

import org.jspecify.annotations.NullMarked;
