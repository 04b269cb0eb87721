/** The Model Context Protocol by its official SDK: tools of servers for a model, and a model as a server's tool. */
@NullMarked
package roselle.mcp;

import org.jspecify.annotations.NullMarked;
