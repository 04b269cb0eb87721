package roselle.grammar.regex;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.grammar.regex.Language.Kind;

/** A language as a wider one without some texts. */
record Exclusions(Language wider, Language gone) {
    private static final int MAX_ASKED = 300;
    private static final int MAX_STATES = 200;
    private static final int MIN_SYMBOLS =
            26; // texts of fewer are soon walked, and some are keys that must be known by their end

    private record Pair(Language rest, Language gone) {}

    /** A wider language, and the texts that it has and another has not, where no beginning is lost by them; else null. */
    static @Nullable Exclusions of(Languages languages, Language language) {
        if (!language.hasExclusions) {
            language.exclusions = find(languages, language);
            language.hasExclusions = true;
        }
        return language.exclusions;
    }

    private static @Nullable Exclusions find(Languages languages, Language language) {
        if (!isEndless(language) && Endings.areOpen(languages, language)) {
            return new Exclusions(languages.any(), languages.not(language));
        }
        Language[] parts = language.kind == Kind.AND ? language.parts : new Language[] {language};
        Language[] rest = new Language[parts.length];
        Language[] excluded = new Language[parts.length];
        int kept = 0;
        for (int i = 0; i < parts.length; i++) {
            if (parts[i].kind == Kind.NOT) {
                excluded[i - kept] = parts[i].parts[0];
            } else {
                rest[kept++] = parts[i];
            }
        }
        if (kept < parts.length) {
            Language wider = languages.and(Arrays.copyOf(rest, kept));
            Language gone = languages.or(Arrays.copyOf(excluded, parts.length - kept));
            if ((isEndless(wider) && isFinite(gone)) || losesNothing(languages, wider, gone)) {
                return new Exclusions(wider, gone);
            }
        }
        Language all = repeatedSymbols(languages, language);
        return all == null ? null : new Exclusions(all, languages.not(language));
    }

    /** What is left out: texts as they are spelled, and languages with texts of which that is not known. */
    record Parts(List<byte[]> spelled, List<Language> others) {
        static final Parts NONE = new Parts(List.of(), List.of());
    }

    /** What is left out; of texts within JSON, as they are spelled to their ends, where there is one way. */
    Parts parts(boolean isInJson) {
        Parts found = new Parts(new ArrayList<>(), new ArrayList<>());
        for (Language part : gone.kind == Kind.OR ? gone.parts : new Language[] {gone}) {
            byte[][] spelled = isInJson && part.payload instanceof Literals list
                    ? list.texts().spelled(true)
                    : null;
            if (spelled == null) {
                found.others.add(part);
            } else {
                addSpelled((Literals) Objects.requireNonNull(part.payload), spelled, found.spelled);
            }
        }
        return found;
    }

    private static void addSpelled(Literals literals, byte[][] spelled, List<byte[]> found) {
        for (int i = literals.from(); i < literals.to(); i++) {
            if (literals.has(i)) {
                found.add(Arrays.copyOfRange(spelled[i], literals.depth(), spelled[i].length));
            }
        }
    }

    private static boolean isEndless(Language language) {
        return language.isAny() || (language.kind == Kind.LENGTH && language.max == Language.UNBOUNDED);
    }

    /** Whether a language shows by its expression that it has finitely many texts. */
    private static boolean isFinite(Language language) {
        return switch (language.kind) {
            case EMPTY, EPSILON, SYMBOL, LITERALS -> true;
            case CONCAT, OR -> Arrays.stream(language.parts).allMatch(Exclusions::isFinite);
            case AND -> Arrays.stream(language.parts).anyMatch(Exclusions::isFinite);
            case REPEAT -> language.max != Language.UNBOUNDED && isFinite(language.parts[0]);
            case LENGTH -> language.max != Language.UNBOUNDED;
            case ANY, NOT, MACHINE -> false;
        };
    }

    /** Any texts of some symbols, if these and no others may come wherever a text of a language stands; else null. */
    @SuppressWarnings("ReferenceEquality") // interned
    private static @Nullable Language repeatedSymbols(Languages languages, Language language) {
        Language known = language.everywhere;
        if (known == null) {
            known = findEverywhere(languages, language);
        }
        return known == language ? null : known;
    }

    /** Asks all places of a language, and remembers a yes for each, because it holds for the places behind them, too. */
    private static Language findEverywhere(Languages languages, Language language) {
        language.everywhere = language;
        if (forbidsSome(language)) {
            return language;
        }
        CodePoints symbols = live(languages, language);
        if (symbols.size() < MIN_SYMBOLS) {
            return language;
        }
        Set<Language> seen = new HashSet<>();
        Deque<Language> open = new ArrayDeque<>();
        seen.add(language);
        open.add(language);
        while (!open.isEmpty()) {
            Language at = open.remove();
            if (seen.size() > MAX_STATES || !live(languages, at).equals(symbols)) {
                return language;
            }
            for (Language target : languages.steps(at).targets()) {
                if (!target.isEmpty() && seen.add(target)) {
                    open.add(target);
                }
            }
        }
        Language all = languages.repeat(languages.symbol(symbols), 0, Language.UNBOUNDED);
        seen.forEach(place -> place.everywhere = all);
        return all;
    }

    /** Whether it shows that something may never come: then some symbol cannot, where that is all but complete. */
    private static boolean forbidsSome(Language language) {
        return switch (language.kind) {
            case NOT -> endsWithAny(language.parts[0]);
            case AND, OR -> Arrays.stream(language.parts).anyMatch(Exclusions::forbidsSome);
            default -> false;
        };
    }

    private static boolean endsWithAny(Language language) {
        return switch (language.kind) {
            case ANY -> true;
            case CONCAT -> endsWithAny(language.parts[1]);
            case OR -> Arrays.stream(language.parts).anyMatch(Exclusions::endsWithAny);
            case AND -> Arrays.stream(language.parts).allMatch(Exclusions::endsWithAny);
            default -> false;
        };
    }

    private static CodePoints live(Languages languages, Language language) {
        Steps steps = languages.steps(language);
        int[] ranges = new int[2 * steps.targets().length];
        int size = 0;
        for (int i = 0; i < steps.targets().length; i++) {
            if (!steps.targets()[i].isEmpty()) {
                ranges[size++] = steps.starts()[i];
                ranges[size++] = steps.last(i);
            }
        }
        return CodePoints.ofSorted(ranges, size);
    }

    /** Whether each beginning of texts that are left out, if it is one of the rest, goes on to a text that stays. */
    private static boolean losesNothing(Languages languages, Language rest, Language gone) {
        Deque<Pair> open = new ArrayDeque<>();
        Set<Pair> seen = new HashSet<>();
        open.add(new Pair(rest, gone));
        while (!open.isEmpty()) {
            Pair pair = open.remove();
            if (seen.size() > MAX_ASKED || !staysSome(languages, pair)) {
                return false;
            }
            Steps steps = languages.steps(pair.gone);
            Steps others = languages.steps(pair.rest);
            for (int first = 0; first <= CodePoints.MAX; ) { // where both are as at the first symbol
                int i = steps.indexOf(first);
                int k = others.indexOf(first);
                Pair next = new Pair(others.targets()[k], steps.targets()[i]);
                if (!next.gone.isEmpty() && !next.rest.isEmpty() && seen.add(next)) {
                    open.add(next);
                }
                first = Math.min(steps.last(i), others.last(k)) + 1;
            }
        }
        return true;
    }

    private static boolean staysSome(Languages languages, Pair pair) {
        Steps gone = languages.steps(pair.gone);
        for (int i = 0; i < gone.targets().length; i++) { // symbols with which the rest goes on, and the others do not
            if (gone.targets()[i].isEmpty() && languages.hasNext(pair.rest, gone.starts()[i], gone.last(i))) {
                return true;
            }
        }
        return languages.isLive(languages.and(pair.rest, languages.not(pair.gone)));
    }
}
