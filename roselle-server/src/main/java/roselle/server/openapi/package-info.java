/** Describe every path, field, limit and error of the server as an OpenAPI document. */
@NullMarked
package roselle.server.openapi;

import org.jspecify.annotations.NullMarked;
