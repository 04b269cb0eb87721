package roselle.grammar.ebnf;

import java.util.List;
import roselle.grammar.regex.Language;

/** The right side of a rule as it is written. */
public sealed interface Expression {
    /** Texts of a regular language. */
    record Terminal(Language language) implements Expression {}

    /** What another rule says. */
    record Reference(String rule) implements Expression {}

    record Sequence(List<Expression> parts) implements Expression {}

    record Choice(List<Expression> parts) implements Expression {}

    /** A part between min and max times; a max of {@link Integer#MAX_VALUE} has no bound. */
    record Repeat(Expression part, int min, int max) implements Expression {}
}
