@NullMarked
package roselle.spark;

import org.jspecify.annotations.NullMarked;
