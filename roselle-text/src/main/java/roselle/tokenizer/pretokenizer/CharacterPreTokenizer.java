package roselle.tokenizer.pretokenizer;

import roselle.tokenizer.unicode.CharacterSet;

/** Splits at each character of a set. */
record CharacterPreTokenizer(CharacterSet set, SplitBehavior behavior) implements PreTokenizer {
    @Override
    public void split(String text, int start, int end, boolean first, PieceSink sink) {
        var joiner = new PieceJoiner(behavior, text, first ? start : -1, sink);
        int done = start;
        for (int i = start; i < end; ) {
            int codePoint = text.codePointAt(i);
            int after = i + Character.charCount(codePoint);
            if (set.contains(codePoint)) {
                if (i > done) {
                    joiner.accept(done, i, false);
                }
                joiner.accept(i, after, true);
                done = after;
            }
            i = after;
        }
        if (done < end) {
            joiner.accept(done, end, false);
        }
        joiner.finish();
    }

    @Override
    public boolean keepsText() {
        return behavior != SplitBehavior.REMOVED;
    }
}
