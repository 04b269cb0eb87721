package roselle.grammar.regex;

import java.util.Objects;

/**
 * A language without its bounds on length and its upper bounds on repetitions, and up to how many code points both agree: on every text
 * that long at most, in whether it is in the language (but for texts that are shorter than {@code least}) and in whether some text goes
 * on from it. Places in a text that differ by what is left of such bounds then have one loose language.
 *
 * <p>The bound of a repetition is not felt before its part has come so often; the upper bound of a whole text's length is not felt while
 * there is room for the longest of the shortest ways to an end ({@link #reach}). The lower bound forbids ends alone where texts can be
 * prolonged from anywhere ({@link #isProlongable}).
 *
 * @param agreed code points
 * @param least code points of a whole text
 * @param most code points of a whole text, where this is the bound that {@code agreed} comes from; else {@link Language#UNBOUNDED}
 */
record Loosening(Language language, int agreed, int least, int most) {
    private static final int UNKNOWN = Integer.MAX_VALUE;
    private static final int MAX_DEPTH = 200; // of expressions; what is deeper stays as it is

    /** Bounds of repetitions that are felt so soon stay. */
    private static final int MIN_AGREED = 12;

    /** The same of lengths: what is too long is known for all of them at once. */
    private static final int MIN_AGREED_OF_LENGTH = 4;

    private Loosening(Language language, int agreed) {
        this(language, agreed, 0, Language.UNBOUNDED);
    }

    /** Whether it is a whole text whose length is bound. */
    boolean isOfLength() {
        return least > 0 || most < Language.UNBOUNDED;
    }

    /** That of a language; the language itself where there is nothing to loosen, or it is not known up to where both agree. */
    static Loosening of(Languages all, Language language) {
        Loosening known = language.loosening;
        if (known == null) {
            known = language.kind == Language.Kind.AND ? bounded(language) : loosened(all, language, 0);
            language.loosening = known;
        }
        return known;
    }

    private static Loosening bounded(Language language) {
        Loosening none = new Loosening(language, UNKNOWN);
        if (language.parts.length != 2) {
            return none;
        }
        boolean isFirst = language.parts[0].isLength();
        Language bound = language.parts[isFirst ? 0 : 1];
        Language text = language.parts[isFirst ? 1 : 0];
        if (!bound.isLength() || (bound.min > 0 && !isProlongable(text, 0))) {
            return none;
        }
        if (bound.max == Language.UNBOUNDED) {
            return new Loosening(text, UNKNOWN, bound.min, Language.UNBOUNDED);
        }
        int reach = reach(text, 0);
        if (bound.max - (long) reach < MIN_AGREED_OF_LENGTH) {
            return none;
        }
        // which may have a looser one itself, known at every length
        return new Loosening(text, bound.max - reach, bound.min, bound.max);
    }

    /** Whether an expression shows that, wherever a text of it stands, each way to an end has another that is one code point longer. */
    static boolean isProlongable(Language language, int depth) {
        if (depth > MAX_DEPTH) {
            return false;
        }
        return switch (language.kind) {
            case ANY -> true;
            case LENGTH -> language.max == Language.UNBOUNDED;
            case REPEAT -> language.max == Language.UNBOUNDED && shortest(language.parts[0], 0) == 1;
            case CONCAT -> isProlongable(language.parts[1], depth + 1); // also from within the first
            case OR -> {
                for (Language part : language.parts) {
                    if (!isProlongable(part, depth + 1)) {
                        yield false;
                    }
                }
                yield true;
            }
            case EMPTY, EPSILON, SYMBOL, AND, NOT, LITERALS, MACHINE -> false;
        };
    }

    /**
     * Whether some text of a length is in a language all of whose expression is live, as far as the expression shows; where not, nothing
     * is known.
     */
    static boolean hasLength(Language language, Language length) {
        return isProlongable(language, 0) && shortest(language, 0) <= length.max;
    }

    private static Loosening loosened(Languages all, Language language, int depth) {
        Loosening known = language.kind == Language.Kind.AND ? null : language.loosening;
        if (known == null) {
            known = depth > MAX_DEPTH ? new Loosening(language, UNKNOWN) : find(all, language, depth + 1);
            language.loosening = language.kind == Language.Kind.AND ? language.loosening : known;
        }
        return known;
    }

    @SuppressWarnings("ReferenceEquality") // interned
    private static Loosening find(Languages all, Language language, int depth) {
        all.budget().spend(1);
        return switch (language.kind) {
            case CONCAT -> {
                Loosening first = loosened(all, language.parts[0], depth);
                Loosening second = loosened(all, language.parts[1], depth);
                Language made = first.language == language.parts[0] && second.language == language.parts[1]
                        ? language
                        : all.concat(first.language, second.language);
                yield new Loosening(made, Math.min(first.agreed, second.agreed));
            }
            case OR -> {
                Language[] parts = new Language[language.parts.length];
                int agreed = UNKNOWN;
                boolean isSame = true;
                for (int i = 0; i < parts.length; i++) {
                    Loosening part = loosened(all, language.parts[i], depth);
                    parts[i] = part.language;
                    agreed = Math.min(agreed, part.agreed);
                    isSame &= part.language == language.parts[i];
                }
                yield new Loosening(isSame ? language : all.or(parts), agreed);
            }
            case REPEAT -> repeated(all, language);
            case LENGTH ->
                language.max < MIN_AGREED || language.max == Language.UNBOUNDED
                        ? new Loosening(language, UNKNOWN)
                        : new Loosening(all.length(language.min, Language.UNBOUNDED), language.max);
            case EMPTY, EPSILON, ANY, SYMBOL, AND, NOT, LITERALS, MACHINE -> new Loosening(language, UNKNOWN);
        };
    }

    private static Loosening repeated(Languages all, Language language) {
        int shortest = shortest(language.parts[0], 0);
        long agreed = shortest == UNKNOWN ? 0 : (long) language.max * shortest - 1;
        if (language.max == Language.UNBOUNDED || agreed < MIN_AGREED) {
            return new Loosening(language, UNKNOWN);
        }
        Language made = all.repeat(language.parts[0], language.min, Language.UNBOUNDED);
        return new Loosening(made, (int) Math.min(agreed, UNKNOWN));
    }

    /** The code points of a shortest text, or fewer; {@link #UNKNOWN} where that is not known. */
    private static int shortest(Language language, int depth) {
        int known = language.shortest;
        if (known < 0 && depth > MAX_DEPTH) {
            return UNKNOWN;
        }
        if (known < 0) {
            known = switch (language.kind) {
                case EPSILON, ANY -> 0;
                case SYMBOL -> 1;
                case LENGTH -> language.min;
                case CONCAT -> sum(shortest(language.parts[0], depth + 1), shortest(language.parts[1], depth + 1));
                case OR -> {
                    int least = UNKNOWN;
                    for (Language part : language.parts) {
                        int of = shortest(part, depth + 1);
                        if (of == UNKNOWN) {
                            yield UNKNOWN;
                        }
                        least = Math.min(least, of);
                    }
                    yield least;
                }
                case REPEAT -> product(language.min, shortest(language.parts[0], depth + 1));
                case EMPTY, AND, NOT, LITERALS, MACHINE -> UNKNOWN;
            };
            language.shortest = known;
        }
        return known;
    }

    /** The most code points that a shortest way to an end takes, from wherever a text of the language stands; or more. */
    private static int reach(Language language, int depth) {
        int known = language.reach;
        if (known < 0 && depth > MAX_DEPTH) {
            return UNKNOWN;
        }
        if (known < 0) {
            known = switch (language.kind) {
                case EPSILON, ANY -> 0;
                case SYMBOL -> 1;
                case LENGTH -> language.min;
                case LITERALS -> ((Literals) Objects.requireNonNull(language.payload)).longest();
                case CONCAT ->
                    Math.max(
                            sum(reach(language.parts[0], depth + 1), shortest(language.parts[1], depth + 1)),
                            reach(language.parts[1], depth + 1));
                case OR -> {
                    int most = 0;
                    for (Language part : language.parts) {
                        most = Math.max(most, reach(part, depth + 1));
                    }
                    yield most;
                }
                case REPEAT ->
                    sum(
                            reach(language.parts[0], depth + 1),
                            product(language.min, shortest(language.parts[0], depth + 1)));
                case EMPTY, AND, NOT, MACHINE -> UNKNOWN;
            };
            language.reach = known;
        }
        return known;
    }

    private static int sum(int one, int other) {
        return one > UNKNOWN - other ? UNKNOWN : one + other;
    }

    private static int product(int times, int of) {
        return times == 0 ? 0 : (int) Math.min(UNKNOWN, (long) times * of);
    }
}
