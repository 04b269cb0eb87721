package roselle.tokenizer.normalizer;

import java.nio.charset.StandardCharsets;
import java.text.BreakIterator;
import java.util.Locale;

/**
 * Applies a SentencePiece character map as Hugging Face's library does, which differs from SentencePiece: a grapheme of
 * fewer than six bytes that begins with any key is replaced whole by the shortest such key's replacement; otherwise
 * its characters are replaced one by one.
 */
public final class PrecompiledNormalizer implements Normalizer {
    private static final int GRAPHEME_BYTES = 6;
    private static final int FIRST_SUPPLEMENTARY_LETTER = 0x10000;

    private final CharacterMap map;
    private final String[] ascii = new String[128]; // what becomes of a character that stands alone

    public PrecompiledNormalizer(CharacterMap map) {
        this.map = map;
        for (int i = 0; i < ascii.length; i++) {
            ascii[i] = replaced(Character.toString(i));
        }
    }

    @Override
    public String normalize(String text, int limit) {
        var result = new StringBuilder(text.length() + 16);
        int at = 0;
        while (at < text.length() && standsAlone(text, at)) {
            result.append(ascii[text.charAt(at++)]);
            Growth.check(result.length(), limit);
        }
        if (at < text.length()) {
            appendGraphemes(text.substring(at), result, limit);
        }
        return result.toString();
    }

    /** ASCII before ASCII is a grapheme, a line end of two characters aside. */
    private static boolean standsAlone(String text, int at) {
        char here = text.charAt(at);
        return here < 128 && here != '\r' && (at + 1 == text.length() || text.charAt(at + 1) < 128);
    }

    private void appendGraphemes(String text, StringBuilder result, int limit) {
        BreakIterator graphemes = BreakIterator.getCharacterInstance(Locale.ROOT);
        graphemes.setText(withAssignedOnly(text));
        int start = 0;
        for (int end = graphemes.next(); end != BreakIterator.DONE; end = graphemes.next()) {
            if (end == start + 1 && text.charAt(start) < 128) {
                result.append(ascii[text.charAt(start)]);
            } else {
                appendGrapheme(text.substring(start, end), result);
            }
            Growth.check(result.length(), limit);
            start = end;
        }
    }

    /**
     * The text with a letter in place of each unassigned character: the JDK takes these for controls, which no mark can
     * join, but Unicode's rules do so only for those that are to be ignored by default.
     */
    private static String withAssignedOnly(String text) {
        if (text.codePoints().noneMatch(PrecompiledNormalizer::isJoinedThoughUnassigned)) {
            return text;
        }
        int[] replaced = text.codePoints()
                .map(codePoint -> !isJoinedThoughUnassigned(codePoint)
                        ? codePoint
                        : Character.isBmpCodePoint(codePoint) ? 'a' : FIRST_SUPPLEMENTARY_LETTER)
                .toArray();
        return new String(replaced, 0, replaced.length);
    }

    private static boolean isJoinedThoughUnassigned(int codePoint) {
        boolean isIgnorable = codePoint == 0x2065
                || (codePoint >= 0xFFF0 && codePoint <= 0xFFF8)
                || (codePoint >= 0xE0000 && codePoint <= 0xE0FFF);
        return !isIgnorable && !Character.isDefined(codePoint);
    }

    private void appendGrapheme(String grapheme, StringBuilder result) {
        byte[] bytes = grapheme.getBytes(StandardCharsets.UTF_8);
        long match = bytes.length < GRAPHEME_BYTES ? map.shortest(bytes, 0, bytes.length) : -1;
        if (CharacterMap.isMatch(match)) {
            result.append(map.replacement(match));
            return;
        }
        for (int at = 0; at < grapheme.length(); ) {
            int next = at + Character.charCount(grapheme.codePointAt(at));
            result.append(replaced(grapheme.substring(at, next)));
            at = next;
        }
    }

    private String replaced(String character) {
        byte[] bytes = character.getBytes(StandardCharsets.UTF_8);
        long match = map.shortest(bytes, 0, bytes.length);
        return CharacterMap.isMatch(match) ? map.replacement(match) : character;
    }
}
