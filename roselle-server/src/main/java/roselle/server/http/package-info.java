/** HTTP as the dialects see it: routes, one exchange, JSON with limits, server-sent events, errors in one place. */
@NullMarked
package roselle.server.http;

import org.jspecify.annotations.NullMarked;
