package roselle.grammar.mask;

import java.util.Arrays;
import java.util.BitSet;

/** What tokens go on with behind a comma: for which of them it may matter what was read before a state that recurs without it. */
final class FarTokens {
    /** Tokens that go on behind their first comma with more than blanks and a quotation mark. */
    final BitSet withContents = new BitSet();

    /** Tokens that go on behind a comma outside the string that they begin in with more than blanks and the beginning of another. */
    final BitSet withItems = new BitSet();

    /** Tokens that have a comma with a whole string behind it. */
    final BitSet withKeys = new BitSet();

    FarTokens(byte[][] tokens) {
        for (int token = 0; token < tokens.length; token++) {
            byte[] bytes = tokens[token];
            if (behindComma(bytes, 0) < bytes.length) {
                withContents.set(token, hasContent(bytes));
                withItems.set(token, hasItem(bytes));
                withKeys.set(token, hasKey(bytes));
            }
        }
    }

    /** Those of some tokens that are in a set, in their order. */
    static int[] those(int[] tokens, BitSet set) {
        int[] found = new int[tokens.length];
        int size = 0;
        for (int token : tokens) {
            if (set.get(token)) {
                found[size++] = token;
            }
        }
        return size == tokens.length ? tokens : Arrays.copyOf(found, size);
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
