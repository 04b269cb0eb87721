/** Tests of what the bindings to NVIDIA's libraries do without one. */
@NullMarked
package roselle.cuda.driver;

import org.jspecify.annotations.NullMarked;
