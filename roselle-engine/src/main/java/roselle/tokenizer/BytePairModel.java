package roselle.tokenizer;

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
        mergeSymbols(symbols.toArray(), ids);
    }

    /** Merges until nothing does, and appends what is left. */
    private void mergeSymbols(int[] symbols, IdBuffer ids) {
        int count = symbols.length;
        int[] next = new int[count]; // the symbol after this one; NONE at the end
        int[] previous = new int[count];
        MergeQueue queue =
                count < BUCKETS_FROM ? new MergeHeap(count) : new MergeBuckets(rules.mergedOfRank().length, count);
        PairTable pairs = rules.pairs();
        for (int i = 0; i < count; i++) {
            previous[i] = i - 1;
            next[i] = i + 1 < count ? i + 1 : NONE;
            if (i > 0) {
                offer(queue, pairs.find(symbols[i - 1], symbols[i]), i - 1);
            }
        }
        for (long merge = queue.poll(); merge != MergeQueue.EMPTY; merge = queue.poll()) {
            int at = (int) merge;
            int rank = (int) (merge >>> 32);
            int right = next[at];
            if (right == NONE || symbols[at] == NONE) {
                continue;
            }
            long now = pairs.find(symbols[at], symbols[right]);
            if (now == PairTable.ABSENT || !stands(now, rank)) {
                continue;
            }
            symbols[at] = (int) now;
            symbols[right] = NONE;
            int after = next[right];
            next[at] = after;
            if (after != NONE) {
                previous[after] = at;
                offer(queue, pairs.find(symbols[at], symbols[after]), at);
            }
            if (previous[at] != NONE) {
                offer(queue, pairs.find(symbols[previous[at]], symbols[at]), previous[at]);
            }
        }
        for (int i = 0; i < count; i++) {
            if (symbols[i] != NONE) {
                rules.symbols().write(symbols[i], ids);
            }
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
