/** What the server and its engines did, as Prometheus reads it, and in a line for each request. */
@NullMarked
package roselle.server.metrics;

import org.jspecify.annotations.NullMarked;
