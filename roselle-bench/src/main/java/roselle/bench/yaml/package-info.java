/** A small, strict part of YAML: maps, lists and texts, as files that people write by hand need them. */
@NullMarked
package roselle.bench.yaml;

import org.jspecify.annotations.NullMarked;
