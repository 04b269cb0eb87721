package roselle.structured;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import roselle.tokenizer.Tokenizer;

/**
 * Special tokens as bytes that no text has, so that one automaton reads marks and texts: 255, and then the token's id in three bytes.
 *
 * <p>What is held to texts alone never allows them, since 255 is no part of UTF-8.
 */
public final class SpecialOctets {
    static final int MARK = 0xFF;

    private final List<String> spellings; // longest first, so that none hides another
    private final Map<String, Integer> ids = new HashMap<>();

    private SpecialOctets(Map<String, Integer> tokens) {
        ids.putAll(tokens);
        var sorted = new ArrayList<>(tokens.keySet());
        sorted.sort(Comparator.comparingInt(String::length).reversed().thenComparing(Comparator.naturalOrder()));
        spellings = List.copyOf(sorted);
    }

    /** Of a tokenizer's special tokens below {@code size}. */
    static SpecialOctets of(Tokenizer tokenizer, int size) {
        var tokens = new HashMap<String, Integer>();
        for (int id = 0; id < Math.min(size, tokenizer.vocabularySize()); id++) {
            if (tokenizer.hasToken(id) && tokenizer.isSpecial(id)) {
                String spelling = tokenizer.spellingOf(id);
                if (spelling.length() > 1) {
                    tokens.put(spelling, id);
                }
            }
        }
        return new SpecialOctets(tokens);
    }

    /** Of tokens by their spellings. */
    static SpecialOctets of(Map<String, Integer> tokens) {
        return new SpecialOctets(tokens);
    }

    /** Of a model without any. */
    public static SpecialOctets none() {
        return new SpecialOctets(Map.of());
    }

    /** The bytes of a special token. */
    static byte[] of(int id) {
        return new byte[] {(byte) MARK, (byte) (id >> 16), (byte) (id >> 8), (byte) id};
    }

    /** The bytes of another token; none where they would be part of a special one's. */
    static byte[] plain(byte[] octets) {
        for (byte octet : octets) {
            if ((octet & 0xFF) == MARK) {
                return new byte[0];
            }
        }
        return octets;
    }

    /** A literal with the bytes of special tokens where they are spelled. */
    byte[] of(String literal) {
        var octets = new ByteArrayOutputStream();
        int plain = 0;
        int at = 0;
        while (at < literal.length()) {
            String spelling = spellingAt(literal, at);
            if (spelling.isEmpty()) {
                at++;
                continue;
            }
            octets.writeBytes(literal.substring(plain, at).getBytes(StandardCharsets.UTF_8));
            octets.writeBytes(of(ids.getOrDefault(spelling, 0)));
            at += spelling.length();
            plain = at;
        }
        octets.writeBytes(literal.substring(plain).getBytes(StandardCharsets.UTF_8));
        return octets.toByteArray();
    }

    /** Where the first of some tokens is spelled in a literal; -1 for nowhere. */
    int indexOfAny(String literal, int[] tokens) {
        int at = 0;
        while (at < literal.length()) {
            String spelling = spellingAt(literal, at);
            int id = ids.getOrDefault(spelling, -1);
            for (int token : tokens) {
                if (token == id) {
                    return at;
                }
            }
            at += Math.max(1, spelling.length());
        }
        return -1;
    }

    /** The token that a literal spells and nothing beside; -1 for none. */
    int tokenOf(String literal) {
        return ids.getOrDefault(literal, -1);
    }

    /** Whether a token is one of these. */
    boolean hasToken(int id) {
        return ids.containsValue(id);
    }

    private String spellingAt(String literal, int at) {
        for (String spelling : spellings) {
            if (literal.startsWith(spelling, at)) {
                return spelling;
            }
        }
        return "";
    }
}
