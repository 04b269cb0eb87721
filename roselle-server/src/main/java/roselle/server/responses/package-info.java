/** The dialect of OpenAI's Responses: a conversation that goes on from an earlier answer kept in memory. */
@NullMarked
package roselle.server.responses;

import org.jspecify.annotations.NullMarked;
