package roselle.tokenizer.decoder;

import java.util.List;
import roselle.tokenizer.model.IdBuffer;

/** The post-processors of Hugging Face's library for one text (pairs of texts are not a language model's input). */
public final class PostProcessors {
    private PostProcessors() {}

    /** Puts fixed ids before and after the text, as BERT and RoBERTa do. */
    public static PostProcessor around(int[] before, int[] after) {
        return (ids, output) -> {
            output.addAll(before, 0, before.length);
            output.addAll(ids, 0, ids.length);
            output.addAll(after, 0, after.length);
        };
    }

    /** A part of a template: the text's ids, or fixed ones. */
    @SuppressWarnings("ArrayRecordComponent") // private to the template it was read from
    public record Piece(boolean isText, int[] ids) {
        /** The place of the text. */
        public static final Piece TEXT = new Piece(true, new int[0]);
    }

    /** Fills a template. */
    public static PostProcessor template(List<Piece> pieces) {
        List<Piece> all = List.copyOf(pieces);
        return (ids, output) -> {
            for (Piece piece : all) {
                int[] part = piece.isText() ? ids : piece.ids();
                output.addAll(part, 0, part.length);
            }
        };
    }

    /** One post-processor after the other. */
    public static PostProcessor sequence(List<PostProcessor> processors) {
        List<PostProcessor> all = List.copyOf(processors);
        return (ids, output) -> {
            int[] current = ids;
            for (PostProcessor processor : all) {
                var next = new IdBuffer(current.length + 8);
                processor.process(current, next);
                current = next.toArray();
            }
            output.addAll(current, 0, current.length);
        };
    }
}
