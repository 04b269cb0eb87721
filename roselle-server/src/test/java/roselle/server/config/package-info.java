/** Tests of the package of the same name. */
@NullMarked
package roselle.server.config;

import org.jspecify.annotations.NullMarked;
