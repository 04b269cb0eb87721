/** Models in this process as Spring AI's chat and embedding models. */
@NullMarked
package roselle.spring;

import org.jspecify.annotations.NullMarked;
