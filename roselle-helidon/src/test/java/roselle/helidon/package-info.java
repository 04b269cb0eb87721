@NullMarked
package roselle.helidon;

import org.jspecify.annotations.NullMarked;
