/** What Quarkus is told of Roselle while an application is built. */
@NullMarked
package roselle.quarkus.deployment;

import org.jspecify.annotations.NullMarked;
