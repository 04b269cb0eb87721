/** gRPC on the server's own port: messages in the frames of HTTP/2, statuses as trailers, and the wire format of Protocol Buffers. */
@NullMarked
package roselle.server.grpc;

import org.jspecify.annotations.NullMarked;
