/** Regular languages of code points: expressions in ECMA's syntax, derivatives with intersection and complement, formats, ranges of numbers. */
@NullMarked
package roselle.grammar.regex;

import org.jspecify.annotations.NullMarked;
