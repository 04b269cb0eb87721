@NullMarked
package roselle.server.responses;

import org.jspecify.annotations.NullMarked;
