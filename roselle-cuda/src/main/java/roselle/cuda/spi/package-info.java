/** What other artifacts give to NVIDIA devices. */
@NullMarked
package roselle.cuda.spi;

import org.jspecify.annotations.NullMarked;
