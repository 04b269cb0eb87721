package roselle.tokenizer.model;

import java.util.function.IntConsumer;

/** Cuts user-defined tokens out, the longest at each place from left to right, and gives the rest to a model. */
public record UserDefinedModel(PieceTrie userDefined, Model rest) implements Model {
    @Override
    public void tokenize(String text, int start, int end, IdBuffer ids, IntConsumer during) {
        String piece = text.substring(start, end);
        int done = 0;
        for (int at = 0; at < piece.length(); ) {
            int length = userDefined.longest(piece, at);
            if (length == 0) {
                at += Character.charCount(piece.codePointAt(at));
                continue;
            }
            if (at > done) {
                rest.tokenize(piece, done, at, ids, during);
            }
            ids.add(userDefined.find(piece, at, at + length));
            during.accept(length);
            at += length;
            done = at;
        }
        if (done < piece.length()) {
            rest.tokenize(piece, done, piece.length(), ids, during);
        }
    }

    @Override
    public boolean readsEveryByte() {
        return rest.readsEveryByte();
    }
}
