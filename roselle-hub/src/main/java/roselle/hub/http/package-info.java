/** Ask the hub over HTTP, again where it failed in passing. */
@NullMarked
package roselle.hub.http;

import org.jspecify.annotations.NullMarked;
