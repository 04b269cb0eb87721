package roselle.tokenizer.model;

import java.util.Arrays;
import roselle.api.CheckpointException;

/**
 * Spellings of tokens and their ids, both ways.
 *
 * <p>All spellings lie in one array of UTF-16 units, and a hash table with open addressing holds ids only: a vocabulary
 * of 128,000 tokens costs no object per token and loads while the JVM is still cold.
 */
public final class Vocabulary {
    private static final int MAXIMUM_TOKENS = 1 << 24;

    private final char[] characters;
    private final int[] starts; // [ids] where the spelling begins in characters
    private final int[] table; // id + 1 by hash, 0 = free
    private final int[] ends; // [ids] where it ends; -1 where the id has none
    private final int size;

    private Vocabulary(Builder builder) {
        characters = builder.characters;
        starts = builder.starts;
        ends = builder.ends;
        table = builder.table;
        size = builder.size;
    }

    /** Ids are 0 until this number. */
    public int size() {
        return size;
    }

    /** Whether the id has a spelling. */
    public boolean contains(int id) {
        return id >= 0 && id < size && ends[id] >= 0;
    }

    /** The spelling of {@code id}, which must be contained. */
    public String spelling(int id) {
        return new String(characters, starts[id], ends[id] - starts[id]);
    }

    /** The length of a spelling in UTF-16 units. */
    int length(int id) {
        return ends[id] - starts[id];
    }

    /** Receives characters and the ids of the tokens that are one. */
    @FunctionalInterface
    interface SingleCharacters {
        void accept(char character, int id);
    }

    void forEachSingleCharacter(SingleCharacters receiver) {
        for (int id = 0; id < size; id++) {
            if (ends[id] - starts[id] == 1) {
                receiver.accept(characters[starts[id]], id);
            }
        }
    }

    /** Whether any token has {@code mark} after another character. */
    boolean anyContainsInside(char mark) {
        for (int id = 0; id < size; id++) {
            for (int i = starts[id] + 1; i < ends[id]; i++) {
                if (characters[i] == mark && characters[i - 1] != mark) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The id of a spelling, or -1. */
    public int find(String spelling) {
        return find(spelling, 0, spelling.length());
    }

    /** The id of the spelling {@code text[start, end)}, or -1. */
    public int find(CharSequence text, int start, int end) {
        int hash = 0;
        for (int i = start; i < end; i++) {
            hash = 31 * hash + text.charAt(i);
        }
        int mask = table.length - 1;
        for (int slot = spread(hash) & mask; table[slot] != 0; slot = (slot + 1) & mask) {
            int id = table[slot] - 1;
            if (equal(id, text, start, end)) {
                return id;
            }
        }
        return -1;
    }

    /** The id of the spelling {@code text[start, end)}, or -1. */
    public int find(char[] text, int start, int end) {
        int hash = 0;
        for (int i = start; i < end; i++) {
            hash = 31 * hash + text[i];
        }
        int mask = table.length - 1;
        for (int slot = spread(hash) & mask; table[slot] != 0; slot = (slot + 1) & mask) {
            int id = table[slot] - 1;
            if (Arrays.equals(characters, starts[id], ends[id], text, start, end)) {
                return id;
            }
        }
        return -1;
    }

    private boolean equal(int id, CharSequence text, int start, int end) {
        int at = starts[id];
        if (ends[id] - at != end - start) {
            return false;
        }
        for (int i = start; i < end; i++) {
            if (characters[at++] != text.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private static int spread(int hash) {
        int mixed = hash * 0x9E3779B9;
        return mixed ^ (mixed >>> 15);
    }

    /** Collects tokens in any order of ids. */
    public static final class Builder {
        private char[] characters;
        private int[] starts;
        private int[] ends; // -1 where the id has no spelling
        private int[] table;
        private int used;
        private int count;
        private int size;

        public Builder(int expectedTokens) {
            int expected = Math.clamp(expectedTokens, 16, MAXIMUM_TOKENS);
            characters = new char[expected * 8];
            starts = new int[expected];
            ends = new int[expected];
            Arrays.fill(ends, -1);
            table = new int[Integer.highestOneBit(expected) * 4];
        }

        /** Adds a token; of two ids with one spelling the later is found by the spelling. */
        public Builder add(String spelling, int id) {
            if (id < 0 || id >= MAXIMUM_TOKENS) {
                throw new CheckpointException("token id " + id + " is outside 0 to " + (MAXIMUM_TOKENS - 1)
                        + ": the tokenizer's vocabulary is damaged");
            }
            reserve(id, spelling.length());
            spelling.getChars(0, spelling.length(), characters, used);
            if (ends[id] >= 0) {
                throw new CheckpointException("token id " + id + " is given twice, to '" + spelling + "' and to '"
                        + new String(characters, starts[id], ends[id] - starts[id])
                        + "': the tokenizer's vocabulary is damaged");
            }
            starts[id] = used;
            used += spelling.length();
            ends[id] = used;
            size = Math.max(size, id + 1);
            index(spelling.hashCode(), id);
            return this;
        }

        public Vocabulary build() {
            return new Vocabulary(this);
        }

        private void reserve(int id, int length) {
            if (used + length > characters.length) {
                characters = Arrays.copyOf(characters, Math.max(Math.multiplyExact(used, 2), used + length));
            }
            if (id >= starts.length) {
                int larger = Math.max(id + 1, starts.length * 2);
                int before = ends.length;
                starts = Arrays.copyOf(starts, larger);
                ends = Arrays.copyOf(ends, larger);
                Arrays.fill(ends, before, larger, -1);
            }
            if (2 * count >= table.length) {
                rehash();
            }
        }

        private void index(int hash, int id) {
            int mask = table.length - 1;
            int slot = spread(hash) & mask;
            while (table[slot] != 0 && !sameSpelling(table[slot] - 1, id)) {
                slot = (slot + 1) & mask;
            }
            count += table[slot] == 0 ? 1 : 0;
            table[slot] = id + 1;
        }

        private boolean sameSpelling(int left, int right) {
            return Arrays.equals(characters, starts[left], ends[left], characters, starts[right], ends[right]);
        }

        private void rehash() {
            int[] old = table;
            table = new int[old.length * 2];
            count = 0;
            for (int entry : old) {
                if (entry != 0) {
                    int id = entry - 1;
                    index(hash(id), id);
                }
            }
        }

        private int hash(int id) {
            int hash = 0;
            for (int i = starts[id]; i < ends[id]; i++) {
                hash = 31 * hash + characters[i];
            }
            return hash;
        }
    }
}
