package roselle.tokenizer.model;

/** Cuts user-defined tokens out, the longest at each place from left to right, and gives the rest to a model. */
public record UserDefinedModel(PieceTrie userDefined, Model rest) implements Model {
    @Override
    public void tokenize(String text, int start, int end, IdBuffer ids) {
        String piece = text.substring(start, end);
        int done = 0;
        for (int at = 0; at < piece.length(); ) {
            int length = userDefined.longest(piece, at);
            if (length == 0) {
                at += Character.charCount(piece.codePointAt(at));
                continue;
            }
            if (at > done) {
                rest.tokenize(piece, done, at, ids);
            }
            ids.add(userDefined.find(piece, at, at + length));
            at += length;
            done = at;
        }
        if (done < piece.length()) {
            rest.tokenize(piece, done, piece.length(), ids);
        }
    }

    @Override
    public boolean readsEveryByte() {
        return rest.readsEveryByte();
    }
}
