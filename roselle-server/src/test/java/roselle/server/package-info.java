/** Tests of the server against a real port, with the demo model. */
@NullMarked
package roselle.server;

import org.jspecify.annotations.NullMarked;
