/** Tests of the CUDA backend: what needs a device has the tag {@code gpu}. */
@NullMarked
package roselle.cuda;

import org.jspecify.annotations.NullMarked;
