@NullMarked
package roselle.quarkus.deployment;

import org.jspecify.annotations.NullMarked;
