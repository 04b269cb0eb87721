package roselle.tokenizer.pipeline;

import java.util.Optional;
import java.util.OptionalInt;
import roselle.api.InvalidRequestException;
import roselle.tokenizer.AddedToken;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.EncodeProgress;
import roselle.tokenizer.IncrementalDecoder;
import roselle.tokenizer.Tokenizer;
import roselle.tokenizer.model.IdBuffer;
import roselle.tokenizer.pretokenizer.PieceSink;
import roselle.tokenizer.unicode.WellFormed;

/**
 * The tokenizer that every file format is read into: added tokens, normalizer, pre-tokenizer, model, post-processor,
 * and a decoder for the way back.
 */
public final class PipelineTokenizer implements Tokenizer {
    private final Pipeline parts;
    private final int vocabularySize;
    private final long bytesOfLongest;

    public PipelineTokenizer(Pipeline parts) {
        this.parts = parts;
        vocabularySize = Math.max(parts.vocabulary().size(), parts.added().idLimit());
        bytesOfLongest = LongestToken.bytes(parts);
    }

    @Override
    public long leastIds(long utf8Bytes) {
        return utf8Bytes / bytesOfLongest;
    }

    @Override
    public int[] encode(String text, EncodeOptions options) {
        return encode(text, options, EncodeProgress.NONE);
    }

    @Override
    public int[] encode(String text, EncodeOptions options, EncodeProgress progress) {
        var ids = new IdBuffer(text.length() / 3);
        String whole = WellFormed.of(text);
        PieceSink toModel = (piece, start, end, first) -> {
            parts.model().tokenize(piece, start, end, ids);
            progress.encoded(end - start, ids.size());
        };
        parts.added().splitVerbatim(whole, options.parseSpecial(), new AddedTokens.Sink() {
            @Override
            public void text(String given, int start, int end) {
                String stretch = given.substring(start, end);
                encodeStretch(
                        options.guarded() ? unguarded(stretch) : stretch,
                        start == 0,
                        options.parseSpecial(),
                        ids,
                        toModel);
            }

            @Override
            public void token(int id) {
                ids.add(id);
            }
        });
        if (!options.addSpecial()) {
            return ids.toArray();
        }
        var output = new IdBuffer(ids.size() + 8);
        parts.postProcessor().process(ids.toArray(), output);
        return output.toArray();
    }

    private static String unguarded(String stretch) {
        return stretch.replace(String.valueOf(EncodeOptions.GUARD), "");
    }

    private void encodeStretch(String stretch, boolean first, boolean parseSpecial, IdBuffer ids, PieceSink toModel) {
        String normalized = parts.normalizer().normalize(stretch);
        boolean leads = first && parts.normalizer().keepsBeginning(stretch);
        parts.added().splitNormalized(normalized, parseSpecial, new AddedTokens.Sink() {
            @Override
            public void text(String text, int start, int end) {
                parts.preTokenizer().split(text, start, end, leads && start == 0, toModel);
            }

            @Override
            public void token(int id) {
                ids.add(id);
            }
        });
    }

    @Override
    public String decode(int[] ids, boolean skipSpecial) {
        var text = new StringBuilder(ids.length * 4);
        var stream = parts.decoder().open();
        for (int id : ids) {
            String spelling = spellingOf(id);
            if (!skipSpecial || !isSpecial(id)) {
                stream.append(spelling, text::append);
            }
        }
        stream.finish(text::append);
        return text.toString();
    }

    @Override
    public IncrementalDecoder incrementalDecoder(boolean skipSpecial) {
        var stream = parts.decoder().open();
        var text = new StringBuilder();
        return new IncrementalDecoder() {
            @Override
            public String append(int id) {
                String spelling = spellingOf(id);
                if (!skipSpecial || !isSpecial(id)) {
                    stream.append(spelling, text::append);
                }
                return drain();
            }

            @Override
            public String finish() {
                stream.finish(text::append);
                return drain();
            }

            private String drain() {
                String drained = text.toString();
                text.setLength(0);
                return drained;
            }
        };
    }

    @Override
    public int vocabularySize() {
        return vocabularySize;
    }

    @Override
    public boolean hasToken(int id) {
        return parts.added().byId(id).isPresent() || parts.vocabulary().contains(id);
    }

    @Override
    public OptionalInt idOf(String token) {
        Optional<AddedToken> added = parts.added().byContent(token);
        int id = added.isPresent() ? added.get().id() : parts.vocabulary().find(token);
        return id < 0 ? OptionalInt.empty() : OptionalInt.of(id);
    }

    /** The spelling; an id that the vocabulary lacks is refused. */
    @Override
    public String spellingOf(int id) {
        Optional<AddedToken> added = parts.added().byId(id);
        if (added.isPresent()) {
            return added.get().content();
        }
        if (!parts.vocabulary().contains(id)) {
            throw new InvalidRequestException(
                    "token id " + id + " is not in the vocabulary: use ids from 0 to " + (vocabularySize - 1));
        }
        return parts.vocabulary().spelling(id);
    }

    @Override
    public byte[] bytesOf(int id) {
        return isSpecial(id) ? new byte[0] : parts.decoder().bytesOf(spellingOf(id));
    }

    @Override
    public boolean isSpecial(int id) {
        return parts.added().byId(id).map(AddedToken::special).orElse(false);
    }
}
