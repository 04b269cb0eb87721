package roselle.tokenizer.pipeline;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntConsumer;
import roselle.api.InvalidRequestException;
import roselle.tokenizer.AddedToken;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.EncodeProgress;
import roselle.tokenizer.IncrementalDecoder;
import roselle.tokenizer.TokenPair;
import roselle.tokenizer.Tokenizer;
import roselle.tokenizer.model.IdBuffer;
import roselle.tokenizer.normalizer.Growth;
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
        var encoding = new Encoding(text.length(), options, progress);
        encoding.add(WellFormed.of(text));
        int[] ids = encoding.ids.toArray();
        return options.addSpecial() ? withSpecial(ids) : ids;
    }

    @Override
    public int[] withSpecial(int[] ids) {
        var output = new IdBuffer(ids.length + 8);
        parts.postProcessor().process(ids, output);
        return output.toArray();
    }

    @Override
    public TokenPair pair(int[] first, int[] second) {
        return parts.postProcessor().pair(first, second).orElseGet(() -> Tokenizer.super.pair(first, second));
    }

    /** One text on its way to ids. */
    private final class Encoding {
        private final EncodeOptions options;
        private final IdBuffer ids;
        private final PieceSink toModel;
        private int told; // characters of a piece that is worked on
        private int limit; // how many characters normalized text may still have

        Encoding(int length, EncodeOptions options, EncodeProgress progress) {
            this.options = options;
            ids = new IdBuffer(length / 3);
            IntConsumer during = characters -> {
                told += characters;
                progress.encoded(characters, ids.size());
            };
            toModel = (piece, start, end, first) -> {
                told = 0;
                parts.model().tokenize(piece, start, end, ids, during);
                progress.encoded(end - start - told, ids.size());
            };
            limit = Growth.limitOf(length);
        }

        void add(String text) {
            parts.added().splitVerbatim(text, options.parseSpecial(), new AddedTokens.Sink() {
                @Override
                public void text(String given, int start, int end) {
                    addStretch(given.substring(start, end), start == 0);
                }

                @Override
                public void token(int id) {
                    ids.add(id);
                }
            });
        }

        private void addStretch(String stretch, boolean first) {
            String plain = unguarded(stretch);
            String normalized = normalized(plain);
            if (!holdsForged(stretch, normalized)) {
                addNormalized(plain, normalized, first, options.parseSpecial());
                return;
            }
            parts.added().splitNormalizedSpecialAsGiven(stretch, new AddedTokens.Sink() {
                @Override
                public void text(String given, int start, int end) {
                    String part = unguarded(given.substring(start, end));
                    addNormalized(part, normalized(part), first && start == 0, false);
                }

                @Override
                public void token(int id) {
                    ids.add(id);
                }
            });
        }

        /**
         * Whether guarded text becomes a special token when it is normalized: guards are gone by then, and a normalizer may make
         * such a spelling of other characters. The tokens that the text spells without a guard are left out of the trial. Where
         * the trial finds one, special tokens count as spelled, and normalized text has none.
         */
        private boolean holdsForged(String stretch, String normalized) {
            if (!options.guarded()
                    || !options.parseSpecial()
                    || !parts.added().hasNormalizedSpecial()
                    || !parts.added().holdsSpecial(normalized)) {
                return false;
            }
            var others = new StringBuilder(stretch.length());
            parts.added().splitNormalizedSpecialAsGiven(stretch, new AddedTokens.Sink() {
                @Override
                public void text(String given, int start, int end) {
                    others.append(unguarded(given.substring(start, end)));
                }

                @Override
                public void token(int id) {
                    others.append(EncodeOptions.GUARD);
                }
            });
            return parts.added().holdsSpecial(parts.normalizer().normalize(others.toString(), limit));
        }

        private String unguarded(String stretch) {
            return options.guarded() ? stretch.replace(String.valueOf(EncodeOptions.GUARD), "") : stretch;
        }

        private String normalized(String text) {
            return parts.normalizer().normalize(text, limit);
        }

        private void addNormalized(String given, String normalized, boolean first, boolean parseSpecial) {
            boolean leads = first && parts.normalizer().keepsBeginning(given, limit);
            limit -= normalized.length();
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
        return parts.added().isSpecial(id);
    }
}
