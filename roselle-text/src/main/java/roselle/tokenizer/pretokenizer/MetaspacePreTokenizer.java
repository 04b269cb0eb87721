package roselle.tokenizer.pretokenizer;

/** SentencePiece's way with spaces: each becomes a visible mark, one is put in front, and words begin at the mark. */
public record MetaspacePreTokenizer(char mark, Prepend prepend, boolean splits) implements PreTokenizer {
    /** Where a mark is put in front of a text that has none there. */
    public enum Prepend {
        /** Only at the beginning of the whole text. */
        FIRST,
        NEVER,
        /** At the beginning of each stretch. */
        ALWAYS
    }

    /** A piece of one character may get a mark before it. */
    @Override
    public int growth() {
        return prepend == Prepend.NEVER ? 1 : 2;
    }

    @Override
    public void split(String text, int start, int end, boolean first, PieceSink sink) {
        String marked = text.substring(start, end).replace(' ', mark);
        boolean prepends = switch (prepend) {
            case FIRST -> first;
            case NEVER -> false;
            case ALWAYS -> true;
        };
        if (prepends && !marked.isEmpty() && marked.charAt(0) != mark) {
            marked = mark + marked;
        }
        int from = 0;
        for (int i = 1; splits && i < marked.length(); i++) {
            if (marked.charAt(i) == mark) {
                sink.accept(marked, from, i, first && from == 0);
                from = i;
            }
        }
        if (from < marked.length()) {
            sink.accept(marked, from, marked.length(), first && from == 0);
        }
    }
}
