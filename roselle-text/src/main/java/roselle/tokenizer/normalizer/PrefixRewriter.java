package roselle.tokenizer.normalizer;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import roselle.tokenizer.model.PieceTrie;

/**
 * Reads a text as SentencePiece normalizes it, part by part: the longest user-defined token as it is, else what the
 * character map puts in place of its longest key, else one character.
 */
public final class PrefixRewriter {
    private final String text;
    private final Optional<CharacterMap> map;
    private final PieceTrie userDefined;
    private final byte[] utf8; // the text, where there is a character map
    private int at; // in text
    private int byteAt; // the same place in utf8

    public PrefixRewriter(String text, Optional<CharacterMap> map, PieceTrie userDefined) {
        this.text = text;
        this.map = map;
        this.userDefined = userDefined;
        utf8 = map.isPresent() ? text.getBytes(StandardCharsets.UTF_8) : new byte[0];
    }

    public boolean isDone() {
        return at == text.length();
    }

    /** Drops parts that are one space each. */
    void skipSpaces() {
        while (!isDone()) {
            int before = at;
            int byteBefore = byteAt;
            if (!next().equals(" ")) {
                at = before;
                byteAt = byteBefore;
                return;
            }
        }
    }

    /** What the text at the current place becomes; moves on. */
    public String next() {
        int length = userDefined.longest(text, at);
        if (length == 0 && map.isPresent()) {
            long match = map.get().longest(utf8, byteAt, utf8.length);
            if (CharacterMap.isMatch(match)) {
                advanceBytes(CharacterMap.length(match));
                return map.get().replacement(match);
            }
        }
        int start = at;
        advance(length > 0 ? length : Character.charCount(text.codePointAt(at)));
        return text.substring(start, at);
    }

    private void advance(int characters) {
        int target = at + characters;
        while (at < target) {
            int codePoint = text.codePointAt(at);
            at += Character.charCount(codePoint);
            byteAt += utf8Length(codePoint);
        }
    }

    /** Moves on by a match of the character map; one that ends within a character takes all of it. */
    private void advanceBytes(int count) {
        int target = byteAt + count;
        while (byteAt < target) {
            advance(1);
        }
    }

    /** How many bytes UTF-8 needs for a character. */
    public static int utf8Length(int codePoint) {
        if (codePoint < 0x80) {
            return 1;
        }
        return codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
    }
}
