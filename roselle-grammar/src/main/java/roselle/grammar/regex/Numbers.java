package roselle.grammar.regex;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The spellings of JSON numbers as languages of ASCII, so that conditions on numbers are languages to be joined like any other.
 *
 * <p>Conditions look at two spellings: plain decimals, and scientific ones whose mantissa has one digit before its point and is not
 * zero; {@link #plain} and {@link #normal} are the grammars to be joined with them.
 */
public final class Numbers {
    private static final int MAX_EXPONENT_DIGITS = 4;

    private final Languages languages;
    private final int maxDigits;
    private final boolean isWide;
    private final Map<Language, Range> comparisons = new HashMap<>();
    private @Nullable Language full;
    private @Nullable Language normal;
    private @Nullable Language plain;
    private @Nullable Language integers;

    /**
     * Numbers.
     *
     * @param maxDigits before the point, and behind it; {@link Integer#MAX_VALUE} for no bound
     * @param isWide whether whole numbers may be spelled as {@code 1.5e3}, and exponents may be 200 and more
     */
    public Numbers(Languages languages, int maxDigits, boolean isWide) {
        this.languages = languages;
        this.maxDigits = maxDigits;
        this.isWide = isWide;
    }

    private Language set(String characters) {
        return languages.symbol(CodePoints.ofEach(characters));
    }

    private Language digits(int min, int max) {
        return languages.repeat(languages.symbol(CodePoints.range('0', '9')), min, max);
    }

    private Language optional(Language part) {
        return languages.repeat(part, 0, 1);
    }

    private Language unsignedPlain() {
        Language whole = languages.or(
                set("0"), languages.concat(languages.symbol(CodePoints.range('1', '9')), digits(0, maxDigits)));
        return languages.concat(whole, fraction());
    }

    private Language fraction() {
        return optional(languages.concat(set("."), digits(1, maxDigits)));
    }

    private Language exponent() {
        // Below 200 each number is a finite double, too.
        Language power = isWide
                ? digits(1, MAX_EXPONENT_DIGITS)
                : languages.or(digits(1, 2), languages.concat(set("1"), digits(2, 2)));
        return languages.concat(set("eE"), optional(set("+-")), power);
    }

    /** Numbers without point and exponent. */
    public Language whole() {
        Language unsigned = languages.or(
                set("0"), languages.concat(languages.symbol(CodePoints.range('1', '9')), digits(0, maxDigits)));
        return languages.concat(optional(set("-")), unsigned);
    }

    /** How integers are spelled: each way of {@link #normal}, or without a point, which programs read as integers without fail. */
    public Language wholeSpellings() {
        return isWide ? normal() : whole();
    }

    /** Numbers without an exponent. */
    public Language plain() {
        if (plain == null) {
            plain = languages.concat(optional(set("-")), unsignedPlain());
        }
        return plain;
    }

    /** Plain numbers, and scientific ones with one digit that is not 0 before the point. */
    public Language normal() {
        if (normal == null) {
            Language scientific =
                    languages.concat(languages.symbol(CodePoints.range('1', '9')), fraction(), exponent());
            normal = languages.concat(optional(set("-")), languages.or(unsignedPlain(), scientific));
        }
        return normal;
    }

    /** Every JSON number. */
    public Language full() {
        if (full == null) {
            full = languages.concat(optional(set("-")), unsignedPlain(), optional(exponent()));
        }
        return full;
    }

    /** Numbers of {@link #normal} that compare with a bound as the flags say. */
    public Language compared(BigDecimal bound, boolean isLess, boolean isEqual, boolean isGreater) {
        BigDecimal size = bound.abs();
        boolean isNegative = bound.signum() < 0;
        // Without a sign a number is at least 0: against a negative bound it is always greater.
        Language unsigned = isNegative
                ? (isGreater ? languages.any() : languages.empty())
                : languages.machine(Comparison.start(size, isLess, isEqual, isGreater));
        Language signed;
        if (bound.signum() > 0) {
            signed = isLess ? languages.any() : languages.empty();
        } else {
            signed = languages.machine(Comparison.start(size, isGreater, isEqual, isLess));
        }
        Language compared = languages.or(
                languages.concat(set("-"), signed),
                languages.and(unsigned, languages.not(languages.concat(set("-"), languages.any()))));
        comparisons.put(compared, new Range(bound, isLess, isEqual, isGreater));
        return compared;
    }

    /**
     * Whether some number compares with all bounds that an intersection of conditions names as these ask; what else they ask is not
     * looked at. A search for one that is between such bounds would walk through all their digits.
     */
    public boolean mayHaveSome(Language conditions) {
        Range.Limits limits = new Range.Limits();
        for (Language part : conditions.parts(Language.Kind.AND)) {
            boolean isNegated = part.kind == Language.Kind.NOT;
            Range range = comparisons.get(isNegated ? part.parts[0] : part);
            if (range != null) {
                limits.add(isNegated ? range.opposite() : range);
            }
        }
        return limits.haveSome();
    }

    /** Numbers of {@link #normal} without a fraction. */
    public Language integers() {
        if (integers == null) {
            integers = languages.concat(optional(set("-")), languages.machine(new Whole(Whole.START, 0, 0, 0, isWide)));
        }
        return integers;
    }

    /** Numbers of {@link #integers} as integers are spelled. */
    private Language spelledIntegers() {
        return languages.and(wholeSpellings(), integers());
    }

    /** The beginning of a number of a language; null if there is none. Those of any number and of any integer are shared. */
    public @Nullable TextLexeme begin(Language language) {
        if (isWide) {
            return TextLexeme.of(languages, language, TextLexeme.Spelling.RAW); // has many places
        }
        if (language.equals(full())) {
            return shared("number " + maxDigits, Numbers::full);
        }
        return language.equals(spelledIntegers())
                ? shared("integer " + maxDigits, Numbers::spelledIntegers)
                : TextLexeme.of(languages, language, TextLexeme.Spelling.RAW);
    }

    private TextLexeme shared(String name, Function<Numbers, Language> which) {
        return SharedTexts.of(name, all -> which.apply(new Numbers(all, maxDigits, false)), TextLexeme.Spelling.RAW);
    }

    /** Numbers of {@link #plain} that are a multiple of another. */
    public Language multiples(BigDecimal of) {
        return languages.concat(optional(set("-")), languages.machine(Multiple.start(of)));
    }

    /** Compares a number without its sign to a bound that is at least 0. */
    private record Comparison(Bound bound, Phase phase, int at, int order, int exponent, int sign, int accepted)
            implements Machine {
        private enum Phase {
            START,
            WHOLE,
            FRACTION,
            EXPONENT_SIGN,
            EXPONENT
        }

        @Override
        public boolean equals(@Nullable Object other) { // written out: looked up for every digit
            return other instanceof Comparison state
                    && phase == state.phase
                    && at == state.at
                    && order == state.order
                    && exponent == state.exponent
                    && sign == state.sign
                    && accepted == state.accepted
                    && bound.equals(state.bound);
        }

        @Override
        public int hashCode() {
            return ((((phase.hashCode() * 31 + at) * 31 + order) * 31 + exponent) * 31 + sign * accepted) * 31
                    + bound.digits.hashCode();
        }

        /** A bound's digits without leading or trailing zeros, and the power of ten of the first. */
        private record Bound(String digits, int exponent) {
            int digit(int index) {
                return index < digits.length() ? digits.charAt(index) - '0' : 0;
            }
        }

        static Comparison start(BigDecimal size, boolean isLess, boolean isEqual, boolean isGreater) {
            int accepted = (isLess ? 1 : 0) | (isEqual ? 2 : 0) | (isGreater ? 4 : 0);
            BigDecimal stripped = size.stripTrailingZeros();
            String digits = size.signum() == 0 ? "" : stripped.unscaledValue().toString();
            int exponent = size.signum() == 0 ? 0 : stripped.precision() - stripped.scale() - 1;
            return new Comparison(new Bound(digits, exponent), Phase.START, 0, 0, 0, 1, accepted);
        }

        /** The digits read, compared with as many of the bound's, as if both were aligned at their first digit. */
        private @Nullable Comparison digit(int digit) {
            // Digits before the first that is not 0 only lower the power of ten.
            if (at == 0 && digit == 0) {
                return phase == Phase.FRACTION
                        ? new Comparison(bound, phase, 0, 0, lowered(), 1, accepted)
                        : new Comparison(bound, Phase.WHOLE, 0, 0, 0, 1, accepted);
            }
            int newOrder = order != 0 ? order : Integer.signum(digit - bound.digit(at));
            int newAt = Math.min(at + 1, bound.digits.length() + 1);
            int newExponent = exponent;
            if (phase != Phase.FRACTION && at > 0) {
                newExponent = Math.min(exponent + 1, Math.max(bound.exponent, 0) + 1);
            }
            if (phase == Phase.START) {
                newExponent = 0;
            }
            Phase newPhase = phase == Phase.START ? Phase.WHOLE : phase;
            return new Comparison(bound, newPhase, newAt, newOrder, newExponent, 1, accepted).orNothing();
        }

        /** Null where no further digit can change a result that is not accepted; an exponent may come behind one digit alone. */
        private @Nullable Comparison orNothing() {
            boolean isDecided = phase == Phase.FRACTION
                    ? exponent != 0 && at > 0 && (exponent != bound.exponent || order != 0 || bound.digits.isEmpty())
                    : phase == Phase.WHOLE && exponent > 0 && (exponent > bound.exponent || bound.digits.isEmpty());
            return isDecided && !isFinal() ? null : this;
        }

        private int lowered() {
            return Math.max(exponent - 1, Math.min(bound.exponent, 0) - 2);
        }

        @Override
        public @Nullable Comparison next(int character) {
            boolean isDigit = character >= '0' && character <= '9';
            return switch (phase) {
                case START -> isDigit ? digit(character - '0') : null;
                case WHOLE -> {
                    if (character == '.') {
                        yield new Comparison(bound, Phase.FRACTION, at, order, at == 0 ? -1 : exponent, 1, accepted);
                    }
                    yield isDigit ? digit(character - '0') : exponentAt(character);
                }
                case FRACTION -> isDigit ? digit(character - '0') : exponentAt(character);
                case EXPONENT_SIGN -> {
                    if (character == '+' || character == '-') {
                        yield new Comparison(bound, Phase.EXPONENT, at, order, 0, character == '-' ? -1 : 1, accepted);
                    }
                    yield isDigit ? exponentDigit(character - '0') : null;
                }
                case EXPONENT -> isDigit ? exponentDigit(character - '0') : null;
            };
        }

        private @Nullable Comparison exponentAt(int character) {
            boolean isNormal = (character == 'e' || character == 'E') && at > 0 && exponent == 0;
            return isNormal ? new Comparison(bound, Phase.EXPONENT_SIGN, at, order, 0, 1, accepted) : null;
        }

        private Comparison exponentDigit(int digit) {
            int read = Math.min(exponent * 10 + digit, Math.abs(bound.exponent) + 1); // beyond it nothing changes
            return new Comparison(bound, Phase.EXPONENT, at, order, read, sign, accepted);
        }

        @Override
        public boolean isFinal() {
            if (phase == Phase.START || phase == Phase.EXPONENT_SIGN) {
                return false;
            }
            return (accepted & (1 << (result() + 1))) != 0;
        }

        private int result() {
            if (at == 0) {
                return bound.digits.isEmpty() ? 0 : -1;
            }
            if (bound.digits.isEmpty()) {
                return 1;
            }
            int power = phase == Phase.EXPONENT ? sign * exponent : exponent;
            if (power != bound.exponent) {
                return Integer.signum(Integer.compare(power, bound.exponent));
            }
            if (order != 0) {
                return order;
            }
            return at < bound.digits.length() ? -1 : 0;
        }
    }

    /**
     * Numbers without a sign that are whole. Behind two digits no exponent comes (see {@link #normal}), so their fraction is zeros: a
     * state with another has no end, which a search would find out late.
     */
    private record Whole(int phase, int fraction, int pending, int exponent, boolean hasFractions) implements Machine {
        static final int START = 0;
        private static final int DIGIT = 1; // one, not 0
        private static final int FRACTION = 2;
        private static final int MARK = 3; // behind e
        private static final int EXPONENT = 4;
        private static final int LOWER = 5; // behind e-
        private static final int DIGITS = 6; // or 0: no exponent comes
        private static final int ZEROS = 7; // of the fraction behind those
        private static final int MAX_FRACTION = 20; // digits that an exponent moves; doubles have 17

        private Whole at(int newPhase) {
            return at(newPhase, 0, 0, 0);
        }

        private Whole at(int newPhase, int newFraction, int newPending, int newExponent) {
            return new Whole(newPhase, newFraction, newPending, newExponent, hasFractions);
        }

        @Override
        public @Nullable Whole next(int character) {
            if (character >= '0' && character <= '9') {
                return digit(character - '0');
            }
            boolean isMark = character == 'e' || character == 'E';
            return switch (phase) {
                case DIGIT -> isMark ? at(MARK) : character == '.' ? at(FRACTION) : null;
                case FRACTION -> isMark ? at(MARK, fraction, 0, 0) : null;
                case MARK ->
                    character == '+' || character == '-'
                            ? at(character == '-' ? LOWER : EXPONENT, fraction, 0, 0)
                            : null;
                case DIGITS -> character == '.' ? at(ZEROS) : null;
                default -> null;
            };
        }

        private @Nullable Whole digit(int digit) {
            return switch (phase) {
                case START -> at(digit == 0 ? DIGITS : DIGIT);
                case DIGIT, DIGITS -> at(DIGITS);
                case FRACTION ->
                    digit == 0
                            ? at(FRACTION, fraction, Math.min(pending + 1, MAX_FRACTION), 0)
                            : hasFractions && fraction + pending < MAX_FRACTION
                                    ? at(FRACTION, fraction + pending + 1, 0, 0)
                                    : null;
                case ZEROS -> digit == 0 ? this : null;
                case LOWER -> digit == 0 ? this : null; // 5e-0; a lower power leaves one digit as a fraction
                default -> at(EXPONENT, fraction, 0, Math.min(exponent * 10 + digit, fraction));
            };
        }

        @Override
        public boolean isFinal() {
            return switch (phase) {
                case DIGIT, DIGITS, ZEROS -> true;
                case FRACTION, LOWER -> fraction == 0;
                case EXPONENT -> exponent >= fraction;
                default -> false;
            };
        }
    }

    /**
     * Plain numbers without a sign that are multiples of {@code unit * 10^tens / 10^scale}, where {@code tens} or {@code scale} is 0.
     *
     * <p>What was read is a number with some zeros behind it. No more than {@code tens} of them are counted apart, and the rest of what
     * stands before them is kept: a state for each rest of {@code unit} and each number of zeros, not for each rest of the product.
     */
    private record Multiple(BigInteger unit, int tens, int scale, int fraction, BigInteger rest, int zeros, int phase)
            implements Machine {
        // phase: 0 start, 1 whole, 2 fraction
        static Multiple start(BigDecimal of) {
            BigDecimal stripped = of.stripTrailingZeros();
            int tens = Math.max(0, -stripped.scale());
            int scale = Math.max(0, stripped.scale());
            return new Multiple(stripped.unscaledValue(), tens, scale, 0, BigInteger.ZERO, tens, 0);
        }

        @Override
        public @Nullable Multiple next(int character) {
            if (phase == 1 && character == '.') {
                return new Multiple(unit, tens, scale, 0, rest, zeros, 2);
            }
            if (character < '0' || character > '9') {
                return null;
            }
            if (phase == 2 && fraction == scale) {
                return character == '0' ? this : null;
            }
            int places = phase == 2 ? fraction + 1 : 0;
            int then = Math.max(1, phase);
            if (character == '0' && zeros < tens) {
                return new Multiple(unit, tens, scale, places, rest, zeros + 1, then);
            }
            boolean isZero = character == '0';
            BigInteger read = rest.multiply(BigInteger.TEN.pow(isZero ? 1 : zeros + 1))
                    .add(BigInteger.valueOf(character - '0'))
                    .mod(unit);
            return new Multiple(unit, tens, scale, places, read, isZero ? tens : 0, then);
        }

        @Override
        public boolean isFinal() {
            if (phase == 0 || zeros < tens) {
                return false;
            }
            BigInteger whole = rest.multiply(BigInteger.TEN.pow(scale - fraction));
            return whole.mod(unit).signum() == 0;
        }
    }
}
