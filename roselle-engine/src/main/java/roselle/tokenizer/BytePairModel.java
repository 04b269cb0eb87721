package roselle.tokenizer;

import roselle.api.InvalidRequestException;

/**
 * Byte-pair encoding (Sennrich et al., 2016): a piece starts as one symbol per character, and of all neighbours that may
 * merge those of the lowest rank do, leftmost first, until none may.
 *
 * <p>One implementation for all kinds. Byte-level vocabularies get pieces respelled in {@link ByteAlphabet} on the way
 * in. SentencePiece vocabularies (with scores instead of merges) become merges whose rank is the place of the merged
 * token's score, see {@link BytePairBuilder}. As in Hugging Face's library, a merge that was queued stands as long as
 * what lies at its place would merge into the same token.
 *
 * <p>Cost: short pieces come from a cache; others take O(n log n) with a heap, or nearly linear time with buckets, and
 * no object per merge.
 */
final class BytePairModel implements Model {
    private static final int CACHED_PIECES = 1 << 15;
    private static final int BUCKETS_FROM = 1 << 15; // symbols
    private static final int MAXIMUM_SYMBOLS = 1 << 28;
    private static final int CELL = 4; // symbol, next, previous, and one that is not used but aligns
    private static final int NEXT = 1;
    private static final int PREVIOUS = 2;
    private static final int NONE = -1;

    private final Rules rules;
    private final WordCache cache = new WordCache(CACHED_PIECES);

    BytePairModel(Rules rules) {
        this.rules = rules;
    }

    @Override
    public void tokenize(String text, int start, int end, IdBuffer ids) {
        if (rules.wordMark() == 0) {
            tokenizeWord(text, start, end, ids);
            return;
        }
        char mark = rules.wordMark();
        int from = start;
        for (int i = start + 1; i < end; i++) {
            if (text.charAt(i) == mark && text.charAt(i - 1) != mark) {
                tokenizeWord(text, from, i, ids);
                from = i;
            }
        }
        tokenizeWord(text, from, end, ids);
    }

    private void tokenizeWord(String text, int start, int end, IdBuffer ids) {
        if (end - start > WordCache.LONGEST) {
            merge(text, start, end, ids);
            return;
        }
        int hash = WordCache.hash(text, start, end);
        if (!cache.append(text, start, end, hash, ids)) {
            var fresh = new IdBuffer(end - start);
            merge(text, start, end, fresh);
            int[] found = fresh.toArray();
            cache.put(text.substring(start, end), hash, found);
            ids.addAll(found, 0, found.length);
        }
    }

    private void merge(String text, int start, int end, IdBuffer ids) {
        char[] characters;
        int size;
        if (rules.byteAlphabet()) {
            characters = new char[Math.multiplyExact(3, end - start)];
            size = ByteAlphabet.spell(text, start, end, characters);
        } else {
            size = end - start;
            characters = new char[size];
            text.getChars(start, end, characters, 0);
        }
        int whole = rules.ignoreMerges() ? rules.vocabulary().find(characters, 0, size) : NONE;
        if (whole != NONE) {
            ids.add(whole);
            return;
        }
        var symbols = new IdBuffer(size);
        rules.symbols().read(characters, size, symbols);
        mergeSymbols(symbols, ids);
    }

    /** Merges until nothing does, and appends what is left. */
    private void mergeSymbols(IdBuffer symbols, IdBuffer ids) {
        int count = symbols.size();
        if (count > MAXIMUM_SYMBOLS) {
            throw new InvalidRequestException("a stretch of " + count + " characters without a cut is longer than the "
                    + MAXIMUM_SYMBOLS + " that can be tokenized: send shorter texts");
        }
        int[] cells = linked(symbols, count);
        MergeQueue queue =
                count < BUCKETS_FROM ? new MergeHeap(count) : new MergeBuckets(rules.mergedOfRank().length, count);
        PairTable pairs = rules.pairs();
        for (int i = 1; i < count; i++) {
            offer(queue, pairs.find(symbols.id(i - 1), symbols.id(i)), i - 1);
        }
        for (long merge = queue.poll(); merge != MergeQueue.EMPTY; merge = queue.poll()) {
            int at = (int) merge;
            int right = cells[CELL * at + NEXT];
            if (right == NONE || cells[CELL * at] == NONE) {
                continue;
            }
            long now = pairs.find(cells[CELL * at], cells[CELL * right]);
            if (now == PairTable.ABSENT || !stands(now, (int) (merge >>> 32))) {
                continue;
            }
            join(cells, at, right, (int) now);
            int after = cells[CELL * at + NEXT];
            if (after != NONE) {
                offer(queue, pairs.find((int) now, cells[CELL * after]), at);
            }
            int before = cells[CELL * at + PREVIOUS];
            if (before != NONE) {
                offer(queue, pairs.find(cells[CELL * before], (int) now), before);
            }
        }
        for (int i = 0; i != NONE && i < count; i = cells[CELL * i + NEXT]) {
            rules.symbols().write(cells[CELL * i], ids);
        }
    }

    /** The symbols as cells of a list that is linked both ways; one cell lies in one cache line. */
    private static int[] linked(IdBuffer symbols, int count) {
        int[] cells = new int[CELL * count];
        for (int i = 0; i < count; i++) {
            cells[CELL * i] = symbols.id(i);
            cells[CELL * i + NEXT] = i + 1 < count ? i + 1 : NONE;
            cells[CELL * i + PREVIOUS] = i - 1;
        }
        return cells;
    }

    /** Makes {@code at} the merged symbol and takes {@code right} out of the list. */
    private static void join(int[] cells, int at, int right, int merged) {
        int after = cells[CELL * right + NEXT];
        cells[CELL * at] = merged;
        cells[CELL * at + NEXT] = after;
        cells[CELL * right] = NONE;
        if (after != NONE) {
            cells[CELL * after + PREVIOUS] = at;
        }
    }

    private static void offer(MergeQueue queue, long merge, int position) {
        if (merge != PairTable.ABSENT) {
            queue.add((int) (merge >>> 32), position);
        }
    }

    private boolean stands(long now, int rank) {
        return (int) (now >>> 32) == rank || rules.mergedOfRank()[rank] == (int) now;
    }

    /** What a byte-pair model is made of, for {@link BytePairBuilder}. */
    @SuppressWarnings("ArrayRecordComponent") // built once, read only here
    record Rules(
            Vocabulary vocabulary,
            PairTable pairs,
            int[] mergedOfRank,
            SymbolTable symbols,
            boolean byteAlphabet,
            boolean ignoreMerges,
            char wordMark) {}
}
