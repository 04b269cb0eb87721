/** Who may ask, and how much: API keys and their limits, hosts, origins. */
@NullMarked
package roselle.server.access;

import org.jspecify.annotations.NullMarked;
