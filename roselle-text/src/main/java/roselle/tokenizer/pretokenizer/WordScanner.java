package roselle.tokenizer.pretokenizer;

import roselle.tokenizer.unicode.CharacterClasses;

/**
 * The patterns of GPT-2, Llama 3 and Qwen 2 written out by hand: one pass, a table look-up per character.
 *
 * <p>GPT-2: {@code 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+}. The others take one
 * character that is no line end before a word instead of a space only, digits by a fixed count and without the space,
 * line ends after punctuation, and white space up to the last line end. Tests hold each against the regular expression.
 */
public final class WordScanner implements PreTokenizer {
    private static final byte OTHER = 0;
    private static final byte LETTER = 1;
    private static final byte NUMBER = 2;
    private static final byte SPACE = 3;
    private static final byte LINE_END = 4; // a space too
    private static final byte[] TYPES = types();

    /** Which of the patterns. */
    public enum Flavor {
        GPT2("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", Integer.MAX_VALUE),
        LLAMA3(afterGpt2("\\p{N}{1,3}"), 3),
        QWEN2(afterGpt2("\\p{N}"), 1);

        private final String pattern;
        private final int digits;

        Flavor(String pattern, int digits) {
            this.pattern = pattern;
            this.digits = digits;
        }

        /** The regular expression that the scanner stands for. */
        public String pattern() {
            return pattern;
        }

        private static String afterGpt2(String numbers) {
            return "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" + numbers
                    + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
        }
    }

    private final Flavor flavor;
    private final boolean isGpt2;

    public WordScanner(Flavor flavor) {
        this.flavor = flavor;
        isGpt2 = flavor == Flavor.GPT2;
    }

    public Flavor flavor() {
        return flavor;
    }

    @Override
    public boolean keepsText() {
        return true;
    }

    private static byte[] types() {
        byte[] types = new byte[1 << 16];
        for (int c = 0; c < types.length; c++) {
            types[c] = typeOf(c);
        }
        return types;
    }

    private static byte typeOf(int codePoint) {
        if (codePoint == '\n' || codePoint == '\r') {
            return LINE_END;
        }
        if (CharacterClasses.isWhiteSpace(codePoint)) {
            return SPACE;
        }
        return Character.isLetter(codePoint) ? LETTER : CharacterClasses.isNumber(codePoint) ? NUMBER : OTHER;
    }

    @Override
    public void split(String text, int start, int end, boolean first, PieceSink sink) {
        int at = start;
        while (at < end) {
            int after = isGpt2 ? gpt2Word(text, at, end) : laterWord(text, at, end);
            sink.accept(text, at, after, first && at == start);
            at = after;
        }
    }

    private int gpt2Word(String text, int at, int end) {
        char c = text.charAt(at);
        if (c == '\'') {
            int suffix = gpt2Contraction(text, at + 1, end);
            if (suffix > 0) {
                return at + 1 + suffix;
            }
        }
        int word = c == ' ' && at + 1 < end ? at + 1 : at;
        byte type = type(text, word, end);
        if (type >= SPACE) {
            return spaces(text, at, end);
        }
        return run(text, word, end, type);
    }

    private int laterWord(String text, int at, int end) {
        char c = text.charAt(at);
        if (c == '\'') {
            int suffix = anyCaseContraction(text, at + 1, end);
            if (suffix > 0) {
                return at + 1 + suffix;
            }
        }
        byte type = type(text, at, end);
        if (type == LETTER) {
            return run(text, at, end, LETTER);
        }
        if (type == NUMBER) {
            return numbers(text, at, end);
        }
        int second = at + (Character.isHighSurrogate(c) && at + 1 < end ? 2 : 1);
        if (type != LINE_END && second < end && type(text, second, end) == LETTER) {
            return run(text, second, end, LETTER);
        }
        int word = c == ' ' && at + 1 < end ? at + 1 : at;
        if (type(text, word, end) == OTHER) {
            return lineEnds(text, run(text, word, end, OTHER), end);
        }
        int lastLineEnd = afterLastLineEnd(text, at, end);
        return lastLineEnd > at ? lastLineEnd : spaces(text, at, end);
    }

    private static byte type(String text, int at, int end) {
        char c = text.charAt(at);
        if (Character.isHighSurrogate(c) && at + 1 < end) {
            return typeOf(text.codePointAt(at));
        }
        return TYPES[c];
    }

    /** Where characters of one type end. */
    private static int run(String text, int from, int end, byte type) {
        int at = from;
        while (at < end) {
            char c = text.charAt(at);
            if (Character.isSurrogate(c)) {
                if (type(text, at, end) != type) {
                    break;
                }
                at += Character.isHighSurrogate(c) && at + 1 < end ? 2 : 1;
            } else if (TYPES[c] == type) {
                at++;
            } else {
                break;
            }
        }
        return at;
    }

    private int numbers(String text, int from, int end) {
        int at = from;
        for (int i = 0; i < flavor.digits && at < end && type(text, at, end) == NUMBER; i++) {
            at += Character.isHighSurrogate(text.charAt(at)) && at + 1 < end ? 2 : 1;
        }
        return at;
    }

    /** White space, but the last of it is left to a word that follows, unless it is the only one. */
    private static int spaces(String text, int from, int end) {
        int at = from;
        while (at < end && TYPES[text.charAt(at)] >= SPACE) {
            at++;
        }
        return at < end && at - from > 1 ? at - 1 : at;
    }

    private static int lineEnds(String text, int from, int end) {
        int at = from;
        while (at < end && TYPES[text.charAt(at)] == LINE_END) {
            at++;
        }
        return at;
    }

    /** After the last line end of the white space here, or {@code from} if it has none. */
    private static int afterLastLineEnd(String text, int from, int end) {
        int last = from;
        for (int at = from; at < end && TYPES[text.charAt(at)] >= SPACE; at++) {
            last = TYPES[text.charAt(at)] == LINE_END ? at + 1 : last;
        }
        return last;
    }

    private static int gpt2Contraction(String text, int at, int end) {
        char first = at < end ? text.charAt(at) : 0;
        char second = at + 1 < end ? text.charAt(at + 1) : 0;
        return contraction(first, second);
    }

    private static int anyCaseContraction(String text, int at, int end) {
        char first = at < end ? lower(text.charAt(at)) : 0;
        char second = at + 1 < end ? lower(text.charAt(at + 1)) : 0;
        return contraction(first, second);
    }

    /** The letter in small ASCII; the long s is an s too when case does not matter. */
    private static char lower(char c) {
        return c >= 'A' && c <= 'Z' ? (char) (c + 32) : c == '\u017F' ? 's' : c;
    }

    private static int contraction(char first, char second) {
        return switch (first) {
            case 's', 't', 'm', 'd' -> 1;
            case 'r', 'v' -> second == 'e' ? 2 : 0;
            case 'l' -> second == 'l' ? 2 : 0;
            default -> 0;
        };
    }
}
