/** Connections: HTTP/1.1 and HTTP/2, with TLS or without, their limits and deadlines, and which peers are still there. */
@NullMarked
package roselle.server.transport;

import org.jspecify.annotations.NullMarked;
