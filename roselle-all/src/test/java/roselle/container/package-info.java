@NullMarked
package roselle.container;

import org.jspecify.annotations.NullMarked;
