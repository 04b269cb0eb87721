/** Structs that host and kernels share, by name; the kernels' own compiler asserts each offset. */
@NullMarked
package roselle.cuda.layout;

import org.jspecify.annotations.NullMarked;
