/** Tests of the gateway. */
@NullMarked
package roselle.server.gateway;

import org.jspecify.annotations.NullMarked;
