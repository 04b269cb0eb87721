/** What operators and load balancers ask: health, readiness, version. */
@NullMarked
package roselle.server.control;

import org.jspecify.annotations.NullMarked;
