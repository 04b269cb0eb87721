package roselle.grammar.regex;

import java.util.Collection;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A regular language of code points, and at the same time a state of the automaton that reads it: the language of what may still
 * come. Made by {@link Languages}, which interns them; equal is the same object.
 *
 * <p>Expressions in the sense of Brzozowski: {@link Languages#steps} derives one by all code points at once.
 */
public final class Language {
    enum Kind {
        /** No text at all. */
        EMPTY,
        /** The empty text alone. */
        EPSILON,
        /** Every text. */
        ANY,
        /** One code point of a set. */
        SYMBOL,
        /** First, then second. */
        CONCAT,
        OR,
        AND,
        NOT,
        /** A part so many times. */
        REPEAT,
        /** The rests of some sorted texts. */
        LITERALS,
        /** Texts of so many code points. */
        LENGTH,
        /** An automaton that is computed. */
        MACHINE
    }

    static final int UNBOUNDED = Integer.MAX_VALUE;

    final Kind kind;
    final int id;
    final Language[] parts; // of CONCAT, OR, AND, NOT, REPEAT
    final @Nullable Object payload; // CodePoints, Literals or Machine
    final int min;
    final int max;
    final boolean isNullable;

    /** Known once asked for; made under the lock of {@link Languages}. */
    volatile @Nullable Steps steps;

    @Nullable
    Steps raw;

    /** Known once asked for; made under the same lock. */
    volatile @Nullable Runs runs;

    /** Any texts of the symbols that may come wherever a text stands; itself where those differ; null where nobody asked. */
    @Nullable
    Language everywhere;

    /** This as a wider language without some texts, if it is one; made when first asked for. */
    @Nullable
    Exclusions exclusions;

    boolean hasExclusions; // whether somebody asked

    /** This without upper bounds; made when first asked for. */
    @Nullable
    Loosening loosening;

    int shortest = -1; // of Loosening; negative where nobody asked
    int reach = -1; // the same

    /** The format whose texts these are, if its few states are worth sharing by all constraints. */
    @Nullable
    String format;

    byte live; // 0 not known, 1 live, 2 dead, 3 in question

    /** What is made of this language by whoever reads texts with it; made under the same lock. */
    volatile @Nullable Object attachment;

    Language(Kind kind, int id, Language[] parts, @Nullable Object payload, int min, int max, boolean isNullable) {
        this.kind = kind;
        this.id = id;
        this.parts = parts;
        this.payload = payload;
        this.min = min;
        this.max = max;
        this.isNullable = isNullable;
    }

    /** Its number: languages are told apart by identity, and this is known. */
    @Override
    public int hashCode() {
        return id;
    }

    /** Whether the empty text is in it. */
    public boolean isNullable() {
        return isNullable;
    }

    public boolean isEmpty() {
        return kind == Kind.EMPTY;
    }

    /** The parts of this where it is joined so; else itself. */
    Language[] parts(Kind joined) {
        return kind == joined ? parts : new Language[] {this};
    }

    boolean isLength() {
        return kind == Kind.LENGTH;
    }

    /** Whether every text is in it, as far as its expression shows. */
    public boolean isAny() {
        return kind == Kind.ANY;
    }

    /** The one text that ended here, where this is what is left of a list of texts; else null. */
    public @Nullable String completed() {
        return kind == Kind.LITERALS ? ((Literals) Objects.requireNonNull(payload)).completed() : null;
    }

    /** The texts that are in it and perhaps some more, where it is a list that nothing has been read of; else null. */
    public @Nullable Collection<String> texts() {
        return payload instanceof Literals list && list.depth() == 0
                ? list.texts().index.keySet()
                : null;
    }
}
