/** Serve models over HTTP: put the parts together, start, stop. */
@NullMarked
package roselle.server;

import org.jspecify.annotations.NullMarked;
