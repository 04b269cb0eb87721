/** Requests to other servers over HTTP/1.1: connections that are kept, answers in pieces as they come. */
@NullMarked
package roselle.server.upstream;

import org.jspecify.annotations.NullMarked;
