package roselle.grammar.regex;

import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.SymbolClasses;

/** Classes of symbols with which a language goes on alike. */
final class Runs {
    private static final long UNREADABLE = 1L << SymbolClasses.of('"')
            | 1L << SymbolClasses.of('\\')
            | 1L << SymbolClasses.of('\t')
            | 1L << SymbolClasses.of('\n')
            | 1L << SymbolClasses.of('\r')
            | 1L << SymbolClasses.of(0);

    private Runs() {}

    /** The classes whose symbols all lead where lower-case letters do, or else where all beyond ASCII does. */
    @SuppressWarnings("ReferenceEquality") // interned
    static long widest(Steps steps, boolean isInJson) {
        Language[] targets = targets(steps);
        Language widest = null;
        for (int symbol : new int[] {'g', 'G', 'a', 'A', 0x80}) {
            Language target = targets[SymbolClasses.of(symbol)];
            if (widest == null && target != null && !target.isEmpty()) {
                widest = target;
            }
        }
        long run = 0;
        for (int i = 0; i < targets.length; i++) {
            run |= widest != null && targets[i] == widest ? 1L << i : 0;
        }
        return isInJson ? run & ~UNREADABLE : run;
    }

    /** Where all symbols of some classes lead; null if not to one language. */
    @SuppressWarnings("ReferenceEquality") // interned
    static @Nullable Language target(Steps steps, long classes) {
        Language[] targets = targets(steps);
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

    /** Where each class leads; null where its symbols do not agree. */
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
