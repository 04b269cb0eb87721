package roselle.grammar.regex;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.Symbols;

/**
 * A place in the bytes that spell a text of a language: plain UTF-8, or the inside of a JSON string with its escapes up to the
 * closing quote. Between two code points it is in form {@link #PLAIN}; within one, the form says how it is spelled so far.
 */
public final class TextLexeme implements Lexeme {
    /** How texts are spelled. */
    public enum Spelling {
        /** UTF-8 as it is. */
        RAW,
        /** The inside of a JSON string and its closing quote; printable ASCII is not escaped without need. */
        JSON,
        /** The same with every escape that JSON knows. */
        JSON_ANY
    }

    private static final int PLAIN = 0;
    private static final int UTF8 = 1; // value: bits so far; count: bytes to come
    private static final int ESCAPE = 2;
    private static final int HEX = 3; // value: digits so far; count: digits read; high: surrogate before, or 0
    private static final int LOW_ESCAPE = 4; // high surrogate read, a backslash must follow
    private static final int LOW_U = 5;
    private static final int CLOSED = 6;
    private static final int WITHIN = 7; // bytes of UTF-8 to come, in count, of which each leads to the language

    /** So many octets are kept as a list. */
    private static final int MAX_FEW = 12;

    private static final TextLexeme NOT_ASKED = new TextLexeme();
    private static final KnownTexts NO_TEXTS = new KnownTexts(new byte[0][], 0, 0, 0, null); // a mark
    private static final Edges NO_EDGES = new Edges(new int[0], new TextLexeme[0]);
    private static final String SHORT_ESCAPES = "\"\\/bfnrt";
    private static final String SHORT_MEANINGS = "\"\\/\b\f\n\r\t";

    private final @Nullable Languages languages;
    private final @Nullable Language language;
    private final Spelling spelling;
    private final int form;
    private final int value;
    private final int count;
    private final int high;
    private volatile @Nullable Edges edges;
    private volatile @Nullable KnownTexts texts; // null where not asked for
    private volatile @Nullable Groups groups; // the same
    private Exclusions.@Nullable Parts leftOut; // under the lock, from one question about it to the other

    private TextLexeme() {
        this.languages = null;
        this.language = null;
        this.spelling = Spelling.RAW;
        this.form = CLOSED;
        this.value = 0;
        this.count = 0;
        this.high = 0;
    }

    private TextLexeme(
            Languages languages, Language language, Spelling spelling, int form, int value, int count, int high) {
        this.languages = languages;
        this.language = language;
        this.spelling = spelling;
        this.form = form;
        this.value = value;
        this.count = count;
        this.high = high;
    }

    /**
     * Where octets lead that may come; made when first asked for, each of its targets again when it is asked for.
     *
     * @param octets those that may come, sorted, where they are few; else null, and the targets are by octet
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Edges(int @Nullable [] octets, @Nullable TextLexeme[] targets) {}

    /** All places in the texts of one language. */
    private static final class Places {
        final @Nullable TextLexeme[] plain = new TextLexeme[Spelling.values().length];
        final Map<TextPlace, TextLexeme> others = new HashMap<>(2);
    }

    /** The beginning of a text of a language; null if there is none. Call under the lock of the languages. */
    public static @Nullable TextLexeme of(Languages languages, Language language, Spelling spelling) {
        if (!languages.isLive(language)) {
            return null;
        }
        String format = language.format;
        if (format == null || spelling == Spelling.RAW) {
            return at(languages, language, spelling, PLAIN, 0, 0, 0);
        }
        return SharedTexts.of(format, all -> Objects.requireNonNull(Formats.find(all, format)), spelling);
    }

    private static TextLexeme at(
            Languages languages, Language language, Spelling spelling, int form, int value, int count, int high) {
        if (language.isAny() && spelling != Spelling.RAW && languages != SharedTexts.LANGUAGES) {
            synchronized (SharedTexts.LANGUAGES.lock()) {
                return made(SharedTexts.LANGUAGES, SharedTexts.LANGUAGES.any(), spelling, form, value, count, high);
            }
        }
        return made(languages, language, spelling, form, value, count, high);
    }

    /** A place between two symbols of a language, under the lock. */
    static TextLexeme begin(Languages languages, Language language, Spelling spelling) {
        return made(languages, language, spelling, PLAIN, 0, 0, 0);
    }

    @SuppressWarnings("EnumOrdinal") // an index into a table of this process, never stored
    private static TextLexeme made(
            Languages languages, Language language, Spelling spelling, int form, int value, int count, int high) {
        Places places = (Places) language.attachment;
        if (places == null) {
            places = new Places();
            language.attachment = places;
        }
        if (form == PLAIN) {
            TextLexeme known = places.plain[spelling.ordinal()];
            if (known == null) {
                languages.budget().keep(1);
                known = new TextLexeme(languages, language, spelling, form, value, count, high);
                places.plain[spelling.ordinal()] = known;
            }
            return known;
        }
        return places.others.computeIfAbsent(new TextPlace(spelling, form, value, count, high), key -> {
            languages.budget().keep(1);
            return new TextLexeme(languages, language, spelling, form, value, count, high);
        });
    }

    /** What may still come, or, of a text that has ended, what the language was left as. */
    public Language language() {
        return known(language);
    }

    private static <T> T known(@Nullable T part) {
        return Objects.requireNonNull(part);
    }

    /** Whether it lies behind the closing quote. */
    public boolean isClosed() {
        return form == CLOSED;
    }

    /** Whether it ends here and cannot go on. */
    public boolean isComplete() {
        if (form == CLOSED) {
            return true;
        }
        Languages all = known(languages);
        synchronized (all.lock()) {
            return mayEnd()
                    && all.steps(language()).targets().length == 1
                    && all.steps(language()).targets()[0].isEmpty();
        }
    }

    @Override
    public boolean mayEnd() {
        return form == CLOSED
                || (form == PLAIN && spelling == Spelling.RAW && language().isNullable());
    }

    @Override
    public @Nullable TextLexeme next(int octet) {
        Edges known = edges();
        int at = indexOf(known, octet);
        if (at < 0) {
            return null;
        }
        TextLexeme target = known.targets()[at];
        return target == NOT_ASKED ? ask(known, at, octet) : target;
    }

    private static int indexOf(Edges known, int octet) {
        int[] octets = known.octets();
        if (octets == null) {
            return octet;
        }
        for (int i = 0; i < octets.length; i++) {
            if (octets[i] == octet) {
                return i;
            }
        }
        return -1;
    }

    @Override
    public int @Nullable [] octets() {
        return edges().octets();
    }

    private @Nullable TextLexeme ask(Edges known, int at, int octet) {
        synchronized (known(languages).lock()) {
            if (known.targets()[at] == NOT_ASKED) {
                known.targets()[at] = compute(octet);
            }
            return known.targets()[at];
        }
    }

    private Edges edges() {
        Edges made = edges;
        if (made == null) {
            if (form == CLOSED) {
                return NO_EDGES;
            }
            Languages all = known(languages);
            synchronized (all.lock()) {
                made = edges == null ? makeEdges(all) : edges;
                edges = made;
            }
        }
        return known(made);
    }

    private Edges makeEdges(Languages all) {
        boolean[] may = new boolean[256];
        switch (form) {
            case PLAIN -> mayBePlain(all, may);
            case UTF8, WITHIN -> Arrays.fill(may, 0x80, 0xC0, true);
            case ESCAPE -> {
                may['u'] = true;
                SHORT_ESCAPES.chars().forEach(character -> may[character] = true);
            }
            case HEX -> "0123456789abcdefABCDEF".chars().forEach(character -> may[character] = true);
            case LOW_ESCAPE -> may['\\'] = true;
            default -> may['u'] = true;
        }
        int count = 0;
        for (boolean is : may) {
            count += is ? 1 : 0;
        }
        boolean isFew = count <= MAX_FEW;
        all.budget().keep(isFew ? 1 : 10);
        TextLexeme[] targets = new TextLexeme[isFew ? count : 256];
        int[] octets = new int[isFew ? count : 0];
        int at = 0;
        for (int octet = 0; octet < 256; octet++) {
            if (may[octet]) {
                targets[isFew ? at : octet] = NOT_ASKED;
                if (isFew) {
                    octets[at++] = octet;
                }
            }
        }
        return new Edges(isFew ? octets : null, targets);
    }

    /** The octets with which something may come between two code points; of those above ASCII more than do. */
    private void mayBePlain(Languages all, boolean[] may) {
        Steps steps = all.steps(language());
        for (int i = 0; i < steps.targets().length; i++) {
            if (!steps.targets()[i].isEmpty()) {
                if (steps.starts()[i] < 0x80) {
                    Arrays.fill(may, steps.starts()[i], Math.min(steps.last(i), 0x7F) + 1, true);
                }
                if (steps.last(i) >= 0x80) {
                    Arrays.fill(may, 0xC2, 0xF5, true);
                }
            }
        }
        if (spelling != Spelling.RAW) {
            Arrays.fill(may, 0, 0x20, false);
            may['"'] = language().isNullable();
            may['\\'] = hasEscape();
        }
    }

    private boolean hasEscape() {
        if (spelling == Spelling.JSON_ANY) {
            return hasNext(0, 0xD7FF) || hasNext(0xE000, CodePoints.MAX);
        }
        return hasNext(0, 0x1F)
                || hasNext('"', '"')
                || hasNext('\\', '\\')
                || hasNext(0x7F, 0xD7FF)
                || hasNext(0xE000, CodePoints.MAX);
    }

    private @Nullable TextLexeme compute(int octet) {
        return switch (form) {
            case PLAIN -> fromPlain(octet);
            case UTF8 -> (octet & 0xC0) == 0x80 ? utf8((value << 6) | (octet & 0x3F), count - 1, high) : null;
            case WITHIN ->
                (octet & 0xC0) == 0x80 ? moved(count > 1 ? WITHIN : PLAIN, 0, count > 1 ? count - 1 : 0, 0) : null;
            case ESCAPE -> fromEscape(octet);
            case HEX -> fromHex(octet);
            case LOW_ESCAPE -> octet == '\\' ? moved(LOW_U, 0, 0, high) : null;
            case LOW_U -> octet == 'u' ? hex(0, 0, high) : null;
            default -> null;
        };
    }

    private TextLexeme moved(int newForm, int newValue, int newCount, int newHigh) {
        return at(known(languages), language(), spelling, newForm, newValue, newCount, newHigh);
    }

    private @Nullable TextLexeme read(int codePoint) {
        Language next = known(languages).next(language(), codePoint);
        return next.isEmpty() ? null : at(known(languages), next, spelling, PLAIN, 0, 0, 0);
    }

    private @Nullable TextLexeme fromPlain(int octet) {
        if (spelling != Spelling.RAW) {
            if (octet == '"') {
                return language().isNullable() ? moved(CLOSED, 0, 0, 0) : null;
            }
            if (octet == '\\') {
                return hasEscape() ? moved(ESCAPE, 0, 0, 0) : null;
            }
            if (octet < 0x20) {
                return null;
            }
        }
        if (octet < 0x80) {
            return read(octet);
        }
        if (octet >= 0xC2 && octet <= 0xDF) {
            return utf8(octet & 0x1F, 1, 0x80);
        }
        if (octet >= 0xE0 && octet <= 0xEF) {
            return utf8(octet & 0x0F, 2, 0x800);
        }
        return octet >= 0xF0 && octet <= 0xF4 ? utf8(octet & 0x07, 3, 0x10000) : null;
    }

    /** Within a character of UTF-8; the least code point of its length stands in {@code high}. */
    private @Nullable TextLexeme utf8(int bits, int toCome, int least) {
        int first = Math.max(bits << (6 * toCome), least);
        int last = Math.min(((bits + 1) << (6 * toCome)) - 1, CodePoints.MAX);
        if (first > last) {
            return null;
        }
        if (toCome == 0) {
            return Character.isBmpCodePoint(bits) && Character.isSurrogate((char) bits) ? null : read(bits);
        }
        if (first == bits << (6 * toCome)
                && last == ((bits + 1) << (6 * toCome)) - 1
                && !(first <= 0xDFFF && last >= 0xD800)) {
            Languages all = known(languages);
            Steps steps = all.steps(language());
            if (steps.indexOf(first) == steps.indexOf(last)) {
                Language target = steps.at(first);
                return target.isEmpty() ? null : at(all, target, spelling, WITHIN, 0, toCome, 0);
            }
        }
        boolean isLive = hasNext(first, Math.min(last, 0xD7FF)) || hasNext(Math.max(first, 0xE000), last);
        return isLive ? moved(UTF8, bits, toCome, least) : null;
    }

    private boolean hasNext(int first, int last) {
        return first <= last && known(languages).hasNext(language(), first, last);
    }

    private @Nullable TextLexeme fromEscape(int octet) {
        if (octet == 'u') {
            return hex(0, 0, 0);
        }
        int index = octet == '/' && spelling == Spelling.JSON ? -1 : SHORT_ESCAPES.indexOf(octet);
        return index < 0 ? null : read(SHORT_MEANINGS.charAt(index));
    }

    private @Nullable TextLexeme fromHex(int octet) {
        int digit = octet < 0x80 ? Character.digit(octet, 16) : -1;
        return digit < 0 ? null : hex(value << 4 | digit, count + 1, high);
    }

    private @Nullable TextLexeme hex(int digits, int read, int highBefore) {
        if (read == 4 && highBefore == 0) {
            return Character.isHighSurrogate((char) digits) ? pair(digits) : unit(digits);
        }
        int first = digits << (4 * (4 - read));
        int last = ((digits + 1) << (4 * (4 - read))) - 1;
        if (highBefore != 0) {
            int lowFirst = Math.max(first, 0xDC00);
            int lowLast = Math.min(last, 0xDFFF);
            if (lowFirst > lowLast || !hasNext(joined(highBefore, lowFirst), joined(highBefore, lowLast))) {
                return null;
            }
            return read == 4 ? read(joined(highBefore, digits)) : moved(HEX, digits, read, highBefore);
        }
        return isLiveUnit(first, last) ? moved(HEX, digits, read, 0) : null;
    }

    private static int joined(int highUnit, int lowUnit) {
        return 0x10000 + ((highUnit - 0xD800) << 10) + (lowUnit - 0xDC00);
    }

    private boolean isLiveUnit(int first, int last) {
        int highFirst = Math.max(first, 0xD800);
        int highLast = Math.min(last, 0xDBFF);
        if (highFirst <= highLast && hasNext(joined(highFirst, 0xDC00), joined(highLast, 0xDFFF))) {
            return true;
        }
        if (hasNext(Math.max(first, 0xE000), last)) {
            return true;
        }
        if (spelling == Spelling.JSON) {
            return hasNext(first, Math.min(last, 0x1F)) || hasNext(Math.max(first, 0x7F), Math.min(last, 0xD7FF));
        }
        return hasNext(first, Math.min(last, 0xD7FF));
    }

    private @Nullable TextLexeme unit(int codePoint) {
        return isLiveUnit(codePoint, codePoint) ? read(codePoint) : null;
    }

    private @Nullable TextLexeme pair(int highUnit) {
        return hasNext(joined(highUnit, 0xDC00), joined(highUnit, 0xDFFF)) ? moved(LOW_ESCAPE, 0, 0, highUnit) : null;
    }

    private Runs runs() {
        Runs made = language().runs;
        if (made == null) {
            Languages all = known(languages);
            synchronized (all.lock()) {
                made = Runs.of(all, language());
            }
        }
        return made;
    }

    @Override
    public long run() {
        return form == PLAIN ? runs().widest(spelling != Spelling.RAW) : 0;
    }

    @Override
    public Symbols loop() {
        return form == PLAIN && !mayEnd() ? runs().loop(spelling != Spelling.RAW) : Symbols.NONE;
    }

    @Override
    public Symbols agreement(Lexeme other) {
        return form == PLAIN && other instanceof TextLexeme text && text.form == PLAIN && text.spelling == spelling
                ? Runs.agreement(runs(), text.runs(), spelling != Spelling.RAW)
                : Symbols.NONE;
    }

    @Override
    public @Nullable Groups groups() {
        Groups known = groups;
        if (known == null && form == PLAIN) {
            known = Groups.of(this);
            groups = known;
        }
        return known;
    }

    @Override
    public boolean isAlike(long classes) {
        return form == PLAIN && runs().target(classes) != null;
    }

    @Override
    public @Nullable Lexeme behind(long classes) {
        Language target = known(runs().target(classes));
        if (target.isEmpty()) {
            return null;
        }
        Languages all = known(languages);
        synchronized (all.lock()) {
            return at(all, target, spelling, PLAIN, 0, 0, 0);
        }
    }

    @Override
    public @Nullable Lexeme wider() {
        if (form == CLOSED || spelling == Spelling.RAW) {
            return null;
        }
        Languages all = known(languages);
        synchronized (all.lock()) {
            Exclusions known = Exclusions.of(all, language());
            return known == null ? null : at(all, known.wider(), spelling, form, value, count, high);
        }
    }

    private Exclusions.Parts leftOut(Languages all) {
        Exclusions.Parts parts = leftOut;
        if (parts == null) {
            Exclusions known = Exclusions.of(all, language());
            parts = known == null ? Exclusions.Parts.NONE : known.parts(form == PLAIN && spelling == Spelling.JSON);
        }
        return parts;
    }

    @Override
    public int closing() {
        return spelling == Spelling.RAW ? -1 : '"';
    }

    @Override
    public @Nullable Lexeme excluded() {
        Languages all = known(languages);
        synchronized (all.lock()) {
            Language gone = all.or(leftOut(all).others().toArray(Language[]::new));
            leftOut = null;
            return gone.isEmpty() ? null : at(all, gone, spelling, form, value, count, high);
        }
    }

    @Override
    public List<byte[]> excludedTexts() {
        Languages all = known(languages);
        synchronized (all.lock()) {
            Exclusions.Parts parts = leftOut(all);
            leftOut = parts;
            return parts.spelled();
        }
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // a mark
    public @Nullable KnownTexts texts() {
        KnownTexts known = texts;
        if (known == null) {
            known = findTexts();
            texts = known;
        }
        return known == NO_TEXTS ? null : known;
    }

    private KnownTexts findTexts() {
        if (form != PLAIN || spelling == Spelling.JSON_ANY || !(language().payload instanceof Literals list)) {
            return NO_TEXTS;
        }
        synchronized (known(languages).lock()) {
            KnownTexts found = list.spelled(spelling == Spelling.JSON);
            return found == null ? NO_TEXTS : found;
        }
    }

    @Override
    public Lexeme endOf(int which) {
        Languages all = known(languages);
        synchronized (all.lock()) {
            Language end = all.end(language(), which);
            return at(all, end, spelling, spelling == Spelling.RAW ? PLAIN : CLOSED, 0, 0, 0);
        }
    }

    @Override
    public @Nullable Lexeme unbounded() {
        return form == PLAIN && spelling != Spelling.RAW && language().isLength() ? SharedTexts.anyOf(spelling) : null;
    }

    @Override
    public long minSymbols() {
        return language().isLength() ? language().min : 0;
    }

    @Override
    public long maxSymbols() {
        return language().isLength() ? language().max : Long.MAX_VALUE;
    }

    @Override
    public @Nullable Looser looser() {
        if (form != PLAIN || spelling == Spelling.RAW) {
            return null;
        }
        Languages all = known(languages);
        synchronized (all.lock()) {
            Loosening found = Loosening.of(all, language());
            if (found.language() == language()) {
                return null;
            }
            TextLexeme loose = at(all, found.language(), spelling, PLAIN, 0, 0, 0);
            return new Looser(
                    loose,
                    found.agreed(),
                    found.least(),
                    found.most(),
                    found.isOfLength() ? SharedTexts.anyOf(spelling) : null);
        }
    }

    @Override
    public boolean isBetweenSymbols() {
        return form == PLAIN;
    }

    @Override
    public boolean isShared() {
        return languages == SharedTexts.LANGUAGES;
    }
}
