/** Tests of who works when. */
@NullMarked
package roselle.work;

import org.jspecify.annotations.NullMarked;
