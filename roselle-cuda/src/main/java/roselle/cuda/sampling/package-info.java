/** The sampler on GPUs. */
@NullMarked
package roselle.cuda.sampling;

import org.jspecify.annotations.NullMarked;
