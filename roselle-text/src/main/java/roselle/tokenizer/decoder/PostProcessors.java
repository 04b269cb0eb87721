package roselle.tokenizer.decoder;

import java.util.List;
import java.util.Optional;
import roselle.tokenizer.TokenPair;
import roselle.tokenizer.model.IdBuffer;

/** The post-processors of Hugging Face's library, for one text and for pairs. */
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

    /**
     * A part of a template for pairs.
     *
     * @param text 0 or 1 for the place of a text, −1 for fixed ids
     * @param type of the part's ids
     */
    @SuppressWarnings("ArrayRecordComponent") // private to the template it was read from
    public record PairPiece(int text, int[] ids, int type) {}

    /** A post-processor of single texts with a template for pairs. */
    public static PostProcessor withPairs(PostProcessor single, List<PairPiece> pieces) {
        return new Paired(single, List.copyOf(pieces));
    }

    private record Paired(PostProcessor single, List<PairPiece> pieces) implements PostProcessor {
        @Override
        public void process(int[] ids, IdBuffer output) {
            single.process(ids, output);
        }

        @Override
        public int lengthOf(int ids) {
            return single.lengthOf(ids);
        }

        @Override
        public Optional<TokenPair> pair(int[] first, int[] second) {
            var ids = new IdBuffer(first.length + second.length + 8);
            var types = new IdBuffer(first.length + second.length + 8);
            for (PairPiece piece : pieces) {
                int[] part = piece.text() < 0 ? piece.ids() : piece.text() == 0 ? first : second;
                ids.addAll(part, 0, part.length);
                for (int i = 0; i < part.length; i++) {
                    types.add(piece.type());
                }
            }
            return Optional.of(new TokenPair(ids.toArray(), types.toArray()));
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

        /** Of those that are in use, one puts tokens around texts, and the others trim offsets. */
        @Override
        public Optional<TokenPair> pair(int[] first, int[] second) {
            List<TokenPair> pairs = all.stream()
                    .flatMap(processor -> processor.pair(first, second).stream())
                    .toList();
            return pairs.size() == 1 ? Optional.of(pairs.getFirst()) : Optional.empty();
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
