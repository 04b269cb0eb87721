package roselle.conversation.parse;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * Special tokens as letters. An answer's special tokens have no text; those that a format's marks are spelled with come to the
 * parser as one letter each, so that a mark of such tokens is found by them alone, and never by words that spell it.
 *
 * <p>The letters are those that Unicode has set apart as no characters (U+FDD0 to U+FDEF).
 */
public final class Letters implements UnaryOperator<String> {
    private static final char FIRST = '\uFDD0';
    private static final char LAST = '\uFDEF';

    private final List<String> spellings; // longest first, so that none hides another
    private final Map<Integer, Character> byToken = new HashMap<>();
    private final Map<String, Character> bySpelling = new HashMap<>();

    /** @param tokens the ids of the special tokens that marks are spelled with, by spelling */
    public Letters(Map<String, Integer> tokens) {
        var chosen = new ArrayList<>(tokens.keySet());
        chosen.sort(Comparator.comparingInt(String::length).reversed().thenComparing(Comparator.naturalOrder()));
        spellings = List.copyOf(chosen.subList(0, Math.min(chosen.size(), LAST - FIRST + 1)));
        for (String spelling : spellings) {
            char letter = (char) (FIRST + bySpelling.size());
            bySpelling.put(spelling, letter);
            byToken.put(tokens.get(spelling), letter);
        }
    }

    /** Whether a character stands for a token. */
    public static boolean isToken(char letter) {
        return letter >= FIRST && letter <= LAST;
    }

    /** A text without such letters, which a model may write although they are no characters. */
    public static String plain(String text) {
        for (int position = 0; position < text.length(); position++) {
            if (isToken(text.charAt(position))) {
                return text.replaceAll("[" + FIRST + "-" + LAST + "]", "\uFFFD");
            }
        }
        return text;
    }

    /** The letter of a token; 0 where it has none. */
    public char of(int id) {
        return byToken.getOrDefault(id, '\0');
    }

    /** A text with a letter instead of each spelling of such a token. */
    @Override
    public String apply(String text) {
        String spelled = text;
        for (String spelling : spellings) {
            spelled = spelled.replace(spelling, String.valueOf(bySpelling.get(spelling)));
        }
        return spelled;
    }
}
