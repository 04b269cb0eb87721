package roselle.tokenizer.unicode;

/** Sets of characters by Unicode property, as the Rust and Oniguruma libraries behind released tokenizers define them. */
public final class CharacterClasses {
    private CharacterClasses() {}

    /** The property White_Space, all of whose members lie in the basic plane. */
    public static boolean isWhiteSpace(int codePoint) {
        return codePoint <= 0x20
                ? codePoint == 0x20 || (codePoint >= 0x09 && codePoint <= 0x0D)
                : codePoint >= 0x85 && isWideWhiteSpace(codePoint);
    }

    private static boolean isWideWhiteSpace(int codePoint) {
        return switch (codePoint) {
            case 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000 -> true;
            default -> codePoint >= 0x2000 && codePoint <= 0x200A;
        };
    }

    /** Letters, marks, decimal digits, connectors and joiners: {@code \w} of Unicode's regular expressions. */
    public static boolean isWord(int codePoint) {
        if (codePoint == 0x200C || codePoint == 0x200D || Character.isAlphabetic(codePoint)) {
            return true;
        }
        return switch (Character.getType(codePoint)) {
            case Character.NON_SPACING_MARK,
                    Character.COMBINING_SPACING_MARK,
                    Character.ENCLOSING_MARK,
                    Character.DECIMAL_DIGIT_NUMBER,
                    Character.CONNECTOR_PUNCTUATION -> true;
            default -> false;
        };
    }

    /** Unicode's general category Punctuation. */
    public static boolean isPunctuation(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONNECTOR_PUNCTUATION,
                    Character.DASH_PUNCTUATION,
                    Character.START_PUNCTUATION,
                    Character.END_PUNCTUATION,
                    Character.INITIAL_QUOTE_PUNCTUATION,
                    Character.FINAL_QUOTE_PUNCTUATION,
                    Character.OTHER_PUNCTUATION -> true;
            default -> false;
        };
    }

    /** Punctuation, and the symbols of ASCII such as {@code $} and {@code ^}. */
    public static boolean isPunctuationOrAsciiSymbol(int codePoint) {
        if (codePoint < 128) {
            return codePoint > 0x20 && codePoint < 0x7F && !Character.isLetterOrDigit(codePoint);
        }
        return ReferenceUnicode.isPunctuation(codePoint);
    }

    /** Decimal digits and every other kind of number. */
    public static boolean isNumber(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.DECIMAL_DIGIT_NUMBER, Character.LETTER_NUMBER, Character.OTHER_NUMBER -> true;
            default -> false;
        };
    }
}
