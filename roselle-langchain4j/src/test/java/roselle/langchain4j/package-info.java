@NullMarked
package roselle.langchain4j;

import org.jspecify.annotations.NullMarked;
