/** What every command says in the same way: exit codes, sizes, loading, starts, names that are nearly right. */
@NullMarked
package roselle.cli.report;

import org.jspecify.annotations.NullMarked;
