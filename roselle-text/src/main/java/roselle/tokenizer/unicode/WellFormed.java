package roselle.tokenizer.unicode;

/** Text without lone surrogates. */
public final class WellFormed {
    private static final char REPLACEMENT = '\uFFFD';

    private WellFormed() {}

    /** The text with each lone surrogate replaced by U+FFFD; the same object where there is none. */
    public static String of(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                if (isPair(text, i)) {
                    i++;
                } else {
                    return replaced(text);
                }
            }
        }
        return text;
    }

    private static String replaced(String text) {
        var result = new StringBuilder(text);
        for (int i = 0; i < text.length(); i++) {
            if (isPair(text, i)) {
                i++;
            } else if (Character.isSurrogate(text.charAt(i))) {
                result.setCharAt(i, REPLACEMENT);
            }
        }
        return result.toString();
    }

    private static boolean isPair(String text, int at) {
        return Character.isHighSurrogate(text.charAt(at))
                && at + 1 < text.length()
                && Character.isLowSurrogate(text.charAt(at + 1));
    }
}
