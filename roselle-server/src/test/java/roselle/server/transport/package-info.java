/** Tests of the package of the same name. */
@NullMarked
package roselle.server.transport;

import org.jspecify.annotations.NullMarked;
