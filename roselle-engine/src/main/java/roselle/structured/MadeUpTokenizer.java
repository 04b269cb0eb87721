package roselle.structured;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.IncrementalDecoder;
import roselle.tokenizer.Tokenizer;

/** Some thousand tokens for a JVM that has no model yet: all bytes, and words of two syllables. Texts are of ASCII. */
final class MadeUpTokenizer implements Tokenizer {
    /** The token that ends answers, and is no other. */
    static final int END = 0;

    private static final int LONGEST = 6;
    private static final String SYLLABLES =
            "an be co du es fi go ha in ju ke li mo ne or pu re si te ul va we xi yo ze";
    private static final String MARKS = "{\" \"} \": \":\" \", \",\" [\" \"] [] {} }, ], : , . \\\" \\n";

    private final Map<String, Integer> ids = new HashMap<>();
    private final List<byte[]> tokens = new ArrayList<>();

    MadeUpTokenizer() {
        for (int octet = 0; octet < 256; octet++) {
            tokens.add(new byte[] {(byte) octet});
        }
        for (char letter = 1; letter < 0x80; letter++) {
            ids.put(String.valueOf(letter), (int) letter);
        }
        Set<String> words = new LinkedHashSet<>(List.of(MARKS.split(" ")));
        for (String first : SYLLABLES.split(" ")) {
            for (String second : SYLLABLES.split(" ")) {
                words.addAll(List.of(first, ' ' + first, first + second, ' ' + first + second));
            }
        }
        for (String word : words) {
            ids.put(word, tokens.size());
            tokens.add(word.getBytes(StandardCharsets.UTF_8));
        }
    }

    /** The longest token that fits first. */
    @Override
    public int[] encode(String text, EncodeOptions options) {
        int[] found = new int[text.length()];
        int size = 0;
        int end;
        for (int at = 0; at < text.length(); at = end) {
            end = Math.min(text.length(), at + LONGEST);
            while (!ids.containsKey(text.substring(at, end))) {
                end--;
            }
            found[size++] = Objects.requireNonNull(ids.get(text.substring(at, end)));
        }
        return Arrays.copyOf(found, size);
    }

    @Override
    public int vocabularySize() {
        return tokens.size();
    }

    @Override
    public boolean hasToken(int id) {
        return true;
    }

    @Override
    public OptionalInt idOf(String token) {
        Integer id = ids.get(token);
        return id == null ? OptionalInt.empty() : OptionalInt.of(id);
    }

    @Override
    public String spellingOf(int id) {
        return new String(tokens.get(id), StandardCharsets.UTF_8);
    }

    @Override
    public byte[] bytesOf(int id) {
        return tokens.get(id).clone();
    }

    @Override
    public boolean isSpecial(int id) {
        return false;
    }

    @Override
    public String decode(int[] ids, boolean skipSpecial) {
        throw new UnsupportedOperationException("made-up tokens are not read");
    }

    @Override
    public IncrementalDecoder incrementalDecoder(boolean skipSpecial) {
        throw new UnsupportedOperationException("made-up tokens are not read");
    }
}
