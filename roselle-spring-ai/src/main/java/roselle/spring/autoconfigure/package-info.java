/** Beans of Spring Boot: engines as properties say, the models over them, health and metrics. */
@NullMarked
package roselle.spring.autoconfigure;

import org.jspecify.annotations.NullMarked;
