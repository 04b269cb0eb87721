/** Models in this process as LangChain4j's chat, embedding and scoring models. */
@NullMarked
package roselle.langchain4j;

import org.jspecify.annotations.NullMarked;
