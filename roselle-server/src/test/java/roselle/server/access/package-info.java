/** Tests of the package of the same name. */
@NullMarked
package roselle.server.access;

import org.jspecify.annotations.NullMarked;
