/** What adapters add to products: low-rank matrices, and the kernels that shrink and expand rows with them. */
@NullMarked
package roselle.cpu.adapter;

import org.jspecify.annotations.NullMarked;
