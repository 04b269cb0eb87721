package roselle.tokenizer.decoder;

import java.util.List;
import roselle.tokenizer.model.IdBuffer;

/** The post-processors of Hugging Face's library for one text (pairs of texts are not a language model's input). */
public final class PostProcessors {
    private PostProcessors() {}

    /** Puts fixed ids before and after the text, as BERT and RoBERTa do. */
    public static PostProcessor around(int[] before, int[] after) {
        return template(List.of(new Piece(false, before), Piece.TEXT, new Piece(false, after)));
    }

    /** A part of a template: the text's ids, or fixed ones. */
    @SuppressWarnings("ArrayRecordComponent") // private to the template it was read from
    public record Piece(boolean isText, int[] ids) {
        /** The place of the text. */
        public static final Piece TEXT = new Piece(true, new int[0]);
    }

    /** Fills a template. */
    public static PostProcessor template(List<Piece> pieces) {
        return new Template(List.copyOf(pieces));
    }

    private record Template(List<Piece> pieces) implements PostProcessor {
        @Override
        public void process(int[] ids, IdBuffer output) {
            for (Piece piece : pieces) {
                int[] part = piece.isText() ? ids : piece.ids();
                output.addAll(part, 0, part.length);
            }
        }

        @Override
        public int lengthOf(int ids) {
            long length = 0;
            for (Piece piece : pieces) {
                length = Math.min(Integer.MAX_VALUE, length + (piece.isText() ? ids : piece.ids().length));
            }
            return (int) length;
        }
    }

    /** One post-processor after the other. */
    public static PostProcessor sequence(List<PostProcessor> processors) {
        return new Sequence(List.copyOf(processors));
    }

    private record Sequence(List<PostProcessor> all) implements PostProcessor {
        @Override
        public void process(int[] ids, IdBuffer output) {
            int[] current = ids;
            for (PostProcessor processor : all) {
                var next = new IdBuffer(current.length + 8);
                processor.process(current, next);
                current = next.toArray();
            }
            output.addAll(current, 0, current.length);
        }

        @Override
        public int lengthOf(int ids) {
            int length = ids;
            for (PostProcessor processor : all) {
                length = processor.lengthOf(length);
            }
            return length;
        }
    }
}
