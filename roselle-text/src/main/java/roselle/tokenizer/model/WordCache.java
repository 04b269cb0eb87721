package roselle.tokenizer.model;

/**
 * Ids of short pieces that were met lately; a fixed number of entries, each replaced by the next piece that hashes to
 * its place.
 *
 * <p>Thread-safe without locks: an entry is immutable with final fields, so that a racing reader sees all of it or none,
 * and a lost update costs only time.
 */
final class WordCache {
    static final int LONGEST = 48; // characters of a piece that is kept

    private final Entry[] entries;

    /** What a piece was split into. */
    private static final class Entry {
        final String piece;
        final int[] ids;

        Entry(String piece, int[] ids) {
            this.piece = piece;
            this.ids = ids;
        }
    }

    /** Holds {@code capacity} pieces, a power of two. */
    WordCache(int capacity) {
        entries = new Entry[capacity];
    }

    /** Appends the ids of {@code text[start, end)}, if they are known. */
    boolean append(String text, int start, int end, int hash, IdBuffer ids) {
        Entry entry = entries[hash & (entries.length - 1)];
        if (entry == null
                || entry.piece.length() != end - start
                || !text.regionMatches(start, entry.piece, 0, end - start)) {
            return false;
        }
        int[] known = entry.ids;
        if (known.length == 1) {
            ids.add(known[0]);
        } else {
            ids.addAll(known, 0, known.length);
        }
        return true;
    }

    void put(String piece, int hash, int[] ids) {
        entries[hash & (entries.length - 1)] = new Entry(piece, ids);
    }

    static int hash(String text, int start, int end) {
        int hash = 0;
        for (int i = start; i < end; i++) {
            hash = 31 * hash + text.charAt(i);
        }
        int mixed = hash * 0x9E3779B9;
        return mixed ^ (mixed >>> 15);
    }
}
