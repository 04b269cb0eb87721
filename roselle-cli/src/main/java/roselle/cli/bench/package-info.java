/** Commands that measure: models, servers, engines side by side. */
@NullMarked
package roselle.cli.bench;

import org.jspecify.annotations.NullMarked;
