package roselle.grammar.schema;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.grammar.regex.Language;

/**
 * A condition on a JSON value: true, false, a condition or its opposite, or some joined by and or or. Made by {@link Formulas}, which
 * interns them; equal is the same object. What one remembers, a replacement that is under way included, is read and written under the
 * lock of the languages, or by the one thread that builds the constraint.
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

    /** Kinds of conditions, as bits: on values of any kind, counts of members, other conditions on objects, counts of items, on arrays. */
    static final int OF_VALUE = 1;

    static final int OF_MEMBER_COUNT = 2;
    static final int OF_MEMBERS = 4;
    static final int OF_ITEM_COUNT = 8;
    static final int OF_ITEMS = 16;

    final Kind kind;
    final int id;
    final Formula[] parts;
    final @Nullable Atom atom;

    /** The kinds of the conditions in it. */
    final int conditions;

    @Nullable
    Formula negation;

    /** What this became in the replacement of that number; see {@link Formulas#replaced}. */
    long replacedIn;

    @Nullable
    Formula replacement;

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
        int kinds = atom == null ? 0 : kindOf(atom);
        for (Formula part : parts) {
            kinds |= part.conditions;
        }
        this.conditions = kinds;
    }

    private static int kindOf(Atom atom) {
        return switch (atom) {
            case Atom.Types _, Atom.Text _ -> OF_VALUE;
            case Atom.MemberCount _ -> OF_MEMBER_COUNT;
            case Atom.Members _, Atom.Has _, Atom.Names _ -> OF_MEMBERS;
            case Atom.ItemCount _ -> OF_ITEM_COUNT;
            case Atom.Items _, Atom.Contains _, Atom.Unique _ -> OF_ITEMS;
        };
    }

    /** Its number: formulas are told apart by identity, and this is known. */
    @Override
    public int hashCode() {
        return id;
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
