/** Models in a Quarkus application: its configuration, beans of LangChain4j, health, and engines that outlive a reload. */
@NullMarked
package roselle.quarkus;

import org.jspecify.annotations.NullMarked;
