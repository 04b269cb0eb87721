package roselle.tokenizer.pretokenizer;

/** Turns a text's stretches, each a match or what lies between matches, into pieces. For one text and thread. */
final class PieceJoiner {
    private final SplitBehavior behavior;
    private final String text;
    private final int origin; // where the caller's text begins, or -1 if not in this text
    private final PieceSink sink;
    private int start = -1; // of the piece that may still grow; -1 for none
    private int end;
    private boolean previousMatches;

    PieceJoiner(SplitBehavior behavior, String text, int origin, PieceSink sink) {
        this.behavior = behavior;
        this.text = text;
        this.origin = origin;
        this.sink = sink;
    }

    /** Takes the next stretch; together they cover the text. */
    void accept(int from, int to, boolean matches) {
        switch (behavior) {
            case REMOVED -> {
                if (!matches) {
                    emit(from, to);
                }
            }
            case ISOLATED -> emit(from, to);
            case CONTIGUOUS -> extendIf(matches == previousMatches, from, to);
            case MERGED_WITH_PREVIOUS -> extendIf(matches && !previousMatches, from, to);
            case MERGED_WITH_NEXT -> extendIf(!matches && previousMatches, from, to);
        }
        previousMatches = matches;
    }

    private void extendIf(boolean joins, int from, int to) {
        if (!joins || start < 0) {
            finish();
            start = from;
        }
        end = to;
    }

    /** Hands on the last piece. */
    void finish() {
        if (start >= 0) {
            emit(start, end);
            start = -1;
        }
    }

    private void emit(int from, int to) {
        if (to > from) {
            sink.accept(text, from, to, from == origin);
        }
    }
}
