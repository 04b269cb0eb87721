@NullMarked
package roselle.offline;

import org.jspecify.annotations.NullMarked;
