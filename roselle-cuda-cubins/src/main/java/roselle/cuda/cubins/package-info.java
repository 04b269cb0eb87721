/** Machine code of kernels as resources. */
@NullMarked
package roselle.cuda.cubins;

import org.jspecify.annotations.NullMarked;
