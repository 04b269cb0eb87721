package roselle.grammar.mask;

import java.util.Arrays;

/**
 * What tokens go on with behind a comma: for which of them it may matter what was read before a state that recurs without it. What is
 * known of a token is found when it is first asked about: most never are. Thread-safe.
 */
final class FarTokens {
    /** Tokens that go on behind their first comma with more than blanks and a quotation mark. */
    static final int WITH_CONTENTS = 1;

    /** Tokens that go on behind a comma outside the string that they begin in with more than blanks and the beginning of another. */
    static final int WITH_ITEMS = 2;

    /** Tokens that have a comma with a whole string behind it. */
    static final int WITH_KEYS = 4;

    private static final int ASKED = 8;

    private final byte[][] tokens;
    private final byte[]
            kinds; // by token, as bits; 0 where nobody asked; found anew by a thread that does not see it yet

    FarTokens(byte[][] tokens) {
        this.tokens = tokens;
        this.kinds = new byte[tokens.length];
    }

    /** Those of some tokens that are of a kind, in their order. */
    int[] those(int[] some, int kind) {
        int[] found = new int[some.length];
        int size = 0;
        for (int token : some) {
            if ((kinds(token) & kind) != 0) {
                found[size++] = token;
            }
        }
        return size == some.length ? some : Arrays.copyOf(found, size);
    }

    private int kinds(int token) {
        byte known = kinds[token];
        if (known == 0) {
            known = (byte) (ASKED | kindsOf(tokens[token]));
            kinds[token] = known;
        }
        return known;
    }

    private static int kindsOf(byte[] bytes) {
        if (behindComma(bytes, 0) >= bytes.length) {
            return 0;
        }
        return (hasContent(bytes) ? WITH_CONTENTS : 0)
                | (hasItem(bytes) ? WITH_ITEMS : 0)
                | (hasKey(bytes) ? WITH_KEYS : 0);
    }

    private static boolean hasContent(byte[] bytes) {
        int at = behindBlanks(bytes, behindComma(bytes, 0));
        return at < bytes.length && (bytes[at] != '"' || at + 1 < bytes.length);
    }

    private static boolean hasItem(byte[] bytes) {
        int quote = behind(bytes, '"', 0);
        int outside = behind(bytes, '\\', 0) < quote ? 0 : quote;
        for (int comma = behindComma(bytes, outside); comma < bytes.length; comma = behindComma(bytes, comma)) {
            int at = behindBlanks(bytes, comma);
            if (at < bytes.length && (bytes[at] != '"' || behind(bytes, '"', at + 1) <= bytes.length)) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasKey(byte[] bytes) {
        boolean isBehind = false;
        int quotes = 0;
        for (byte octet : bytes) {
            isBehind |= octet == ',';
            quotes += isBehind && octet == '"' ? 1 : 0;
        }
        return quotes > 1;
    }

    private static int behindComma(byte[] bytes, int from) {
        return behind(bytes, ',', from);
    }

    /** The place behind the next one of an octet; beyond the end where none comes. */
    private static int behind(byte[] bytes, int octet, int from) {
        int at = from;
        while (at < bytes.length && bytes[at] != octet) {
            at++;
        }
        return at + 1;
    }

    private static int behindBlanks(byte[] bytes, int from) {
        int at = from;
        while (at < bytes.length && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\r' || bytes[at] == '\t')) {
            at++;
        }
        return at;
    }
}
