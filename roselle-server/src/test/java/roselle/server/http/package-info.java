/** Tests of the package of the same name. */
@NullMarked
package roselle.server.http;

import org.jspecify.annotations.NullMarked;
