/** Tests of KServe's protocol over gRPC. */
@NullMarked
package roselle.server.kserve;

import org.jspecify.annotations.NullMarked;
