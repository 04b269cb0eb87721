package roselle.tokenizer.pretokenizer;

import java.lang.Character.UnicodeScript;
import java.util.List;
import java.util.Optional;
import roselle.tokenizer.pattern.Pattern;
import roselle.tokenizer.unicode.CharacterClasses;
import roselle.tokenizer.unicode.CharacterSet;
import roselle.tokenizer.unicode.ReferenceScripts;
import roselle.tokenizer.unicode.ReferenceUnicode;

/** The pre-tokenizers that tokenizer.json names, by those names. */
public final class PreTokenizers {
    private static final CharacterSet WHITE_SPACE = new CharacterSet(CharacterClasses::isWhiteSpace);
    private static final CharacterSet PUNCTUATION = new CharacterSet(CharacterClasses::isPunctuationOrAsciiSymbol);
    private static final CharacterSet NUMBERS = new CharacterSet(ReferenceUnicode::isNumber);

    private PreTokenizers() {}

    /** Words, and runs of what is neither word nor white space. */
    public static PreTokenizer whitespace() {
        return (text, start, end, first, sink) -> {
            int done = start;
            int kind = -1;
            for (int i = start; i < end; ) {
                int codePoint = text.codePointAt(i);
                int here = CharacterClasses.isWord(codePoint) ? 1 : WHITE_SPACE.contains(codePoint) ? 0 : 2;
                if (here != kind) {
                    emitUnlessSpace(kind, text, done, i, first && done == start, sink);
                    done = i;
                    kind = here;
                }
                i += Character.charCount(codePoint);
            }
            emitUnlessSpace(kind, text, done, end, first && done == start, sink);
        };
    }

    @SuppressWarnings("TooManyParameters") // a piece and its kind
    private static void emitUnlessSpace(int kind, String text, int start, int end, boolean first, PieceSink sink) {
        if (kind > 0) {
            sink.accept(text, start, end, first);
        }
    }

    public static PreTokenizer whitespaceSplit() {
        return new CharacterPreTokenizer(WHITE_SPACE, SplitBehavior.REMOVED);
    }

    public static PreTokenizer bert() {
        return sequence(List.of(whitespaceSplit(), punctuation(SplitBehavior.ISOLATED)));
    }

    public static PreTokenizer punctuation(SplitBehavior behavior) {
        return new CharacterPreTokenizer(PUNCTUATION, behavior);
    }

    public static PreTokenizer digits(boolean individual) {
        return new CharacterPreTokenizer(NUMBERS, individual ? SplitBehavior.ISOLATED : SplitBehavior.CONTIGUOUS);
    }

    public static PreTokenizer charDelimiterSplit(int delimiter) {
        return new CharacterPreTokenizer(CharacterSet.of(delimiter), SplitBehavior.REMOVED);
    }

    public static PreTokenizer sequence(List<PreTokenizer> parts) {
        return parts.size() == 1 ? parts.getFirst() : new SequencePreTokenizer(parts);
    }

    /** Splits at a regular expression in Oniguruma's syntax. */
    public static PreTokenizer split(String pattern, SplitBehavior behavior, boolean invert) {
        return scanner(pattern, behavior, invert)
                .orElseGet(() -> new PatternPreTokenizer(Pattern.compile(pattern), behavior, invert));
    }

    /** Splits at a fixed text. */
    public static PreTokenizer splitLiteral(String literal, SplitBehavior behavior, boolean invert) {
        return new PatternPreTokenizer(Pattern.literal(literal), behavior, invert);
    }

    /** The scanner for a pattern that covers any text with matches, if there is one. */
    private static Optional<PreTokenizer> scanner(String pattern, SplitBehavior behavior, boolean invert) {
        boolean keepsMatches = behavior == SplitBehavior.ISOLATED || (behavior == SplitBehavior.REMOVED && invert);
        for (var flavor : WordScanner.Flavor.values()) {
            if (keepsMatches && flavor.pattern().equals(pattern)) {
                return Optional.of(new WordScanner(flavor));
            }
        }
        return Optional.empty();
    }

    /** {@code spellsBytes} is false where a byte-pair model with the byte alphabet follows at once. */
    public static PreTokenizer byteLevel(boolean addPrefixSpace, boolean useRegex, boolean spellsBytes) {
        PreTokenizer words = useRegex ? new WordScanner(WordScanner.Flavor.GPT2) : PreTokenizer.NONE;
        return new ByteLevelPreTokenizer(addPrefixSpace, words, spellsBytes);
    }

    public static PreTokenizer metaspace(char replacement, MetaspacePreTokenizer.Prepend prepend, boolean split) {
        return new MetaspacePreTokenizer(replacement, prepend, split);
    }

    /**
     * Cuts where the script changes; kana count as Han, and a space belongs to what it follows. Spaces at the beginning
     * are lost, as in Hugging Face's library.
     */
    public static PreTokenizer unicodeScripts() {
        return (text, start, end, first, sink) -> {
            int done = end;
            Optional<UnicodeScript> last = Optional.empty();
            for (int i = start; i < end; ) {
                int codePoint = text.codePointAt(i);
                Optional<UnicodeScript> script = ReferenceScripts.of(codePoint);
                if (script.isPresent()) {
                    if (last.isEmpty()) {
                        done = i;
                    } else if (!last.equals(script)) {
                        sink.accept(text, done, i, first && done == start);
                        done = i;
                    }
                    last = script;
                }
                i += Character.charCount(codePoint);
            }
            if (done < end) {
                sink.accept(text, done, end, first && done == start);
            }
        };
    }

    /** Pieces of {@code length} code points. */
    public static PreTokenizer fixedLength(int length) {
        return (text, start, end, first, sink) -> {
            int done = start;
            int count = 0;
            for (int i = start; i < end; i += Character.charCount(text.codePointAt(i))) {
                if (count++ == length) {
                    sink.accept(text, done, i, first && done == start);
                    done = i;
                    count = 1;
                }
            }
            if (done < end) {
                sink.accept(text, done, end, first && done == start);
            }
        };
    }
}
