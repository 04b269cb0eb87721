/** HTTP as the dialects see it: routes, one exchange, JSON read with limits and written, streams, errors in one place. */
@NullMarked
package roselle.server.http;

import org.jspecify.annotations.NullMarked;
