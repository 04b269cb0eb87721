/** Tests of the server through the clients that people use. */
@NullMarked
package roselle.server.clients;

import org.jspecify.annotations.NullMarked;
