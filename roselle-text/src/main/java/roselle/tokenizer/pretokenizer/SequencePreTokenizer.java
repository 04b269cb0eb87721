package roselle.tokenizer.pretokenizer;

import java.util.List;

/** Splits by each part in turn: the second splits the pieces of the first, and so on. */
public record SequencePreTokenizer(List<PreTokenizer> parts) implements PreTokenizer {
    public SequencePreTokenizer {
        parts = List.copyOf(parts);
    }

    @Override
    public int growth() {
        long growth = 1;
        for (PreTokenizer part : parts) {
            growth = Math.min(Integer.MAX_VALUE, growth * part.growth());
        }
        return (int) growth;
    }

    @Override
    public void split(String text, int start, int end, boolean first, PieceSink sink) {
        splitFrom(0, text, start, end, first, sink);
    }

    @SuppressWarnings("TooManyParameters") // the sixth is where in the sequence the piece stands
    private void splitFrom(int part, String text, int start, int end, boolean first, PieceSink sink) {
        if (part == parts.size()) {
            sink.accept(text, start, end, first);
            return;
        }
        PieceSink next = (piece, from, to, leads) -> splitFrom(part + 1, piece, from, to, leads, sink);
        parts.get(part).split(text, start, end, first, next);
    }

    @Override
    public boolean keepsText() {
        return parts.stream().allMatch(PreTokenizer::keepsText);
    }
}
