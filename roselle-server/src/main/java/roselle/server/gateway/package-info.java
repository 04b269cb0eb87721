/** A gateway before several servers: each request goes to the one that has most of its beginning and least to do. */
@NullMarked
package roselle.server.gateway;

import org.jspecify.annotations.NullMarked;
