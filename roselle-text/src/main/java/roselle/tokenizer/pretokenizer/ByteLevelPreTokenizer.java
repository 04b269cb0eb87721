package roselle.tokenizer.pretokenizer;

import roselle.tokenizer.model.ByteAlphabet;

/**
 * GPT-2's pre-tokenizer: may put a space before the text, may split it into words, and may spell the pieces in
 * {@link ByteAlphabet}.
 *
 * @param words how the text is split; {@link PreTokenizer#NONE} for not at all
 * @param spellsBytes false where the model does that itself, which is faster
 */
record ByteLevelPreTokenizer(boolean addPrefixSpace, PreTokenizer words, boolean spellsBytes) implements PreTokenizer {
    /** A piece of one character may get a space before it; a character has at most three bytes for each UTF-16 unit. */
    @Override
    public int growth() {
        return (addPrefixSpace ? 2 : 1) * (spellsBytes ? 3 : 1);
    }

    @Override
    public void split(String text, int start, int end, boolean first, PieceSink sink) {
        PieceSink target =
                spellsBytes ? (piece, from, to, leads) -> spell(piece.substring(from, to), leads, sink) : sink;
        if (addPrefixSpace && end > start && text.charAt(start) != ' ') {
            String prefixed = " " + text.substring(start, end);
            words.split(prefixed, 0, prefixed.length(), first, target);
        } else {
            words.split(text, start, end, first, target);
        }
    }

    @Override
    public boolean keepsText() {
        return words.keepsText();
    }

    private static void spell(String piece, boolean leads, PieceSink sink) {
        String spelled = ByteAlphabet.spell(piece);
        sink.accept(spelled, 0, spelled.length(), leads);
    }
}
