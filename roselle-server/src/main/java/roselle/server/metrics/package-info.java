/** What the server and its engines did, as Prometheus reads it. */
@NullMarked
package roselle.server.metrics;

import org.jspecify.annotations.NullMarked;
