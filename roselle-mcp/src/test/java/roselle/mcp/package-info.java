@NullMarked
package roselle.mcp;

import org.jspecify.annotations.NullMarked;
