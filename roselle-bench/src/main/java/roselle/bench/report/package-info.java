/** What is written down: results as JSON with a versioned schema, tables, pictures, one page with all of it. */
@NullMarked
package roselle.bench.report;

import org.jspecify.annotations.NullMarked;
