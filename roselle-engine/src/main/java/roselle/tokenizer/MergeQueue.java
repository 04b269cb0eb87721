package roselle.tokenizer;

/** The merges that one piece of text still offers, the lowest rank first and among equals the leftmost first. */
sealed interface MergeQueue permits MergeHeap, MergeBuckets {
    /** What {@link #poll} answers when nothing is left. */
    long EMPTY = -1;

    void add(int rank, int position);

    /** Takes the next merge: rank in the upper 32 bits, position in the lower. */
    long poll();
}
