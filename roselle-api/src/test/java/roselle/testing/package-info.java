/** Give tests what several packages need. */
@NullMarked
package roselle.testing;

import org.jspecify.annotations.NullMarked;
