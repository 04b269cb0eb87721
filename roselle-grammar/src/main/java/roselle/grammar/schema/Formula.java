package roselle.grammar.schema;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.grammar.regex.Language;

/**
 * A condition on a JSON value: true, false, a condition or its opposite, or some joined by and or or. Made by {@link Formulas}, which
 * interns them; equal is the same object.
 */
final class Formula {
    enum Kind {
        TRUE,
        FALSE,
        ATOM,
        NOT_ATOM,
        AND,
        OR
    }

    static final Formula[] NO_PARTS = {};

    final Kind kind;
    final int id;
    final Formula[] parts;
    final @Nullable Atom atom;

    @Nullable
    Formula negation;

    final @Nullable Formula[] byType = new Formula[ValueType.values().length];

    /** The texts that meet it, and whether it judges plain numbers alone; made when first asked for. */
    @Nullable
    Language language;

    @Nullable
    Boolean isPlainOnly;

    @Nullable
    Boolean isWholeOnly;

    /** Whether some value meets it. */
    final Question isSatisfiable = new Question();

    Formula(Kind kind, int id, Formula[] parts, @Nullable Atom atom) {
        this.kind = kind;
        this.id = id;
        this.parts = parts;
        this.atom = atom;
    }

    boolean isTrue() {
        return kind == Kind.TRUE;
    }

    boolean isFalse() {
        return kind == Kind.FALSE;
    }

    Atom atom() {
        return Objects.requireNonNull(atom);
    }
}
