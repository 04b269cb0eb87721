package roselle.grammar.regex;

import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.SymbolClasses;
import roselle.grammar.automaton.Symbols;

/** Classes of symbols with which a language goes on alike; kept with it. */
final class Runs {
    private static final long UNREADABLE = 1L << SymbolClasses.of('"')
            | 1L << SymbolClasses.of('\\')
            | 1L << SymbolClasses.of('\t')
            | 1L << SymbolClasses.of('\n')
            | 1L << SymbolClasses.of('\r')
            | 1L << SymbolClasses.of(0);
    private static final Symbols UNREADABLE_SYMBOLS = Symbols.ofClasses(UNREADABLE);
    private static final int[] WIDE = {'g', 'G', 'a', 'A', 0x80};

    private final Steps steps;
    private final Symbols loop;
    private final Symbols loopInJson;
    private @Nullable Classes classes;

    /**
     * What is known of whole classes, for those that are asked.
     *
     * @param targets by class; null where its symbols do not agree
     * @param widest the classes that lead where most do
     */
    @SuppressWarnings("ArrayRecordComponent") // built once and never changed; never compared
    private record Classes(@Nullable Language[] targets, long widest) {}

    private Runs(Language language, Steps steps) {
        this.steps = steps;
        this.loop = loop(language, steps);
        this.loopInJson = loop.without(UNREADABLE_SYMBOLS);
    }

    /** Of a language, under the lock of the languages. */
    static Runs of(Languages languages, Language language) {
        Runs known = language.runs;
        if (known == null) {
            languages.budget().keep(1);
            known = new Runs(language, languages.steps(language));
            language.runs = known;
        }
        return known;
    }

    /** Symbols with each of which two languages lead to the same one; in JSON those that are written as they are. */
    @SuppressWarnings("ReferenceEquality") // interned
    static Symbols agreement(Runs one, Runs other, boolean isInJson) {
        Symbols agreed = Symbols.NONE;
        long others = 0;
        int i = 0;
        int k = 0;
        for (int first = 0; first <= CodePoints.MAX; ) {
            int last = Math.min(one.steps.last(i), other.steps.last(k));
            if (one.steps.targets()[i] == other.steps.targets()[k]) {
                agreed = agreed.with(between(first, last));
            } else if (last >= 128) {
                others |= SymbolClasses.between(Math.max(first, 128), last);
            }
            i += last == one.steps.last(i) ? 1 : 0;
            k += last == other.steps.last(k) ? 1 : 0;
            first = last + 1;
        }
        Symbols all = agreed.without(new Symbols(0, 0, others));
        return isInJson ? all.without(UNREADABLE_SYMBOLS) : all;
    }

    private static Symbols between(int first, int last) {
        return new Symbols(
                first < 64 ? bits(first, Math.min(last, 63)) : 0,
                first < 128 && last >= 64 ? bits(Math.max(first, 64) - 64, Math.min(last, 127) - 64) : 0,
                last >= 128 ? SymbolClasses.between(Math.max(first, 128), last) : 0);
    }

    @SuppressWarnings("ReferenceEquality") // interned
    private static Symbols loop(Language language, Steps steps) {
        Symbols looped = Symbols.NONE;
        long others = 0;
        for (int i = 0; i < steps.targets().length; i++) {
            int first = steps.starts()[i];
            int last = steps.last(i);
            if (steps.targets()[i] == language) {
                looped = looped.with(between(first, last));
            } else if (last >= 128) {
                others |= SymbolClasses.between(Math.max(first, 128), last);
            }
        }
        Symbols all = looped.without(new Symbols(0, 0, others));
        return all.isWide() ? all : Symbols.NONE;
    }

    private static long bits(int first, int last) {
        return (-1L << first) & (-1L >>> (63 - last));
    }

    private Classes classes() {
        Classes known = classes;
        if (known == null) {
            known = found(targets(steps));
            classes = known;
        }
        return known;
    }

    @SuppressWarnings("ReferenceEquality") // interned
    private static Classes found(@Nullable Language[] targets) {
        Language most = null;
        for (int symbol : WIDE) {
            Language target = targets[SymbolClasses.of(symbol)];
            if (most == null && target != null && !target.isEmpty()) {
                most = target;
            }
        }
        long widest = 0;
        for (int i = 0; i < targets.length; i++) {
            widest |= most != null && targets[i] == most ? 1L << i : 0;
        }
        return new Classes(targets, widest);
    }

    /** The classes whose symbols all lead where lower-case letters do, or else where all beyond ASCII does. */
    long widest(boolean isInJson) {
        long widest = classes().widest;
        return isInJson ? widest & ~UNREADABLE : widest;
    }

    /** The symbols that lead to the language itself; none if they are few. */
    Symbols loop(boolean isInJson) {
        return isInJson ? loopInJson : loop;
    }

    /** Where all symbols of some classes lead; null if not to one language. */
    @SuppressWarnings("ReferenceEquality") // interned
    @Nullable
    Language target(long classes) {
        @Nullable Language[] targets = classes().targets;
        Language only = null;
        for (int i = 0; i < targets.length; i++) {
            if ((classes & 1L << i) != 0) {
                if (targets[i] == null || (only != null && targets[i] != only)) {
                    return null;
                }
                only = targets[i];
            }
        }
        return only;
    }

    @SuppressWarnings("ReferenceEquality") // interned
    private static @Nullable Language[] targets(Steps steps) {
        Language[] targets = new Language[SymbolClasses.COUNT];
        boolean[] isMixed = new boolean[SymbolClasses.COUNT];
        int range = 0;
        for (int first = 0; first <= CodePoints.MAX; ) {
            int last = Math.min(SymbolClasses.lastAlike(first), steps.last(range));
            int kind = SymbolClasses.of(first);
            Language target = steps.targets()[range];
            isMixed[kind] |= targets[kind] != null && targets[kind] != target;
            targets[kind] = target;
            if (last == steps.last(range)) {
                range++;
            }
            first = last + 1;
        }
        for (int i = 0; i < targets.length; i++) {
            targets[i] = isMixed[i] ? null : targets[i];
        }
        return targets;
    }
}
