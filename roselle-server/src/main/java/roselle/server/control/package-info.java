/** What operators and load balancers ask: health, readiness, version, which models are loaded. */
@NullMarked
package roselle.server.control;

import org.jspecify.annotations.NullMarked;
