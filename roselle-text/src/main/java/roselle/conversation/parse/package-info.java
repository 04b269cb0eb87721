/** Read answers by the description of their format: marks, JSON, parameters, Python's calls; character by character. */
@NullMarked
package roselle.conversation.parse;

import org.jspecify.annotations.NullMarked;
