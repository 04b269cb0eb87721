package roselle.tokenizer.format;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.tokenizer.AddedToken;
import roselle.tokenizer.Tokenizer;
import roselle.tokenizer.decoder.ByteFallbackStage;
import roselle.tokenizer.decoder.Decoder;
import roselle.tokenizer.decoder.PostProcessor;
import roselle.tokenizer.decoder.PostProcessors;
import roselle.tokenizer.decoder.SentencePieceStage;
import roselle.tokenizer.model.BytePairBuilder;
import roselle.tokenizer.model.ByteTokens;
import roselle.tokenizer.model.Model;
import roselle.tokenizer.model.PieceTrie;
import roselle.tokenizer.model.UnigramModel;
import roselle.tokenizer.model.UserDefinedModel;
import roselle.tokenizer.model.Vocabulary;
import roselle.tokenizer.normalizer.CharacterMap;
import roselle.tokenizer.normalizer.Normalizer;
import roselle.tokenizer.normalizer.PrefixRewriter;
import roselle.tokenizer.normalizer.SentencePieceNormalizer;
import roselle.tokenizer.pipeline.AddedTokens;
import roselle.tokenizer.pipeline.Pipeline;
import roselle.tokenizer.pipeline.PipelineTokenizer;
import roselle.tokenizer.pretokenizer.PreTokenizer;

/**
 * Builds a tokenizer from a SentencePiece file (tokenizer.model).
 *
 * <p>The file does not say which tokens a model expects around a text. Where no tokenizer_config.json lies beside it, a
 * byte-pair model gets its beginning token before (as Llama's does) and a Unigram model its end token after (as T5's).
 */
final class SentencePieceTokenizer {
    private static final String BEGIN = "<s>";
    private static final String END = "</s>";

    private final SentencePieceModel file;
    private final String origin;
    private final Vocabulary vocabulary;
    private final PieceTrie userDefined = new PieceTrie();
    private final int unknownId;
    private final ByteTokens bytes;

    private SentencePieceTokenizer(SentencePieceModel file, String origin) {
        this.file = file;
        this.origin = origin;
        vocabulary = readVocabulary();
        unknownId = onlyUnknown();
        bytes = file.trainer().byteFallback() ? ByteTokens.of(vocabulary) : ByteTokens.NONE;
        if (file.trainer().byteFallback() && !bytes.isComplete()) {
            throw new CheckpointException(
                    origin + " asks for byte fallback, but its pieces lack some of <0x00> to <0xFF>");
        }
    }

    /** Reads a file's content; {@code origin} names it in messages. */
    static Tokenizer read(byte[] content, String origin, TokenizerConfig config) {
        SentencePieceModel file = SentencePieceModel.read(content, origin);
        if (file.hasDenormalizer()) {
            throw new CheckpointException(
                    origin + " rewrites decoded text (denormalizer_spec), which is not supported");
        }
        return new PipelineTokenizer(new SentencePieceTokenizer(file, origin).pipeline(config));
    }

    private Vocabulary readVocabulary() {
        var builder = new Vocabulary.Builder(file.pieces().size());
        Set<String> seen = new HashSet<>();
        for (int id = 0; id < file.pieces().size(); id++) {
            SentencePieceModel.Piece piece = file.pieces().get(id);
            if (!seen.add(piece.text())) {
                throw new CheckpointException(origin + ": piece " + id + " is '" + JsonSource.shortened(piece.text())
                        + "', which an earlier piece is too");
            }
            if (piece.kind() == SentencePieceModel.Kind.BYTE && ByteFallbackStage.byteOf(piece.text()) < 0) {
                throw new CheckpointException(origin + ": piece " + id + " is '" + JsonSource.shortened(piece.text())
                        + "', a byte is spelled <0x00> to <0xFF>");
            }
            builder.add(piece.text(), id);
            if (piece.kind() == SentencePieceModel.Kind.USER_DEFINED) {
                userDefined.insert(piece.text(), id);
            }
        }
        return builder.build();
    }

    private int onlyUnknown() {
        int unknown = -1;
        for (int id = 0; id < file.pieces().size(); id++) {
            if (kindOf(id) == SentencePieceModel.Kind.UNKNOWN) {
                if (unknown >= 0) {
                    throw new CheckpointException(
                            origin + ": pieces " + unknown + " and " + id + " are both the unknown token");
                }
                unknown = id;
            }
        }
        if (unknown < 0) {
            throw new CheckpointException(origin + " has no piece of type 2, the unknown token: one is needed");
        }
        return unknown;
    }

    private SentencePieceModel.Kind kindOf(int id) {
        return file.pieces().get(id).kind();
    }

    private Pipeline pipeline(TokenizerConfig config) {
        List<AddedToken> added = new ArrayList<>();
        for (int id = 0; id < file.pieces().size(); id++) {
            if (kindOf(id) == SentencePieceModel.Kind.CONTROL) {
                added.add(AddedToken.plain(id, file.pieces().get(id).text(), true));
            }
        }
        added.addAll(config.tokensBeyond(added));
        var tokens = new AddedTokens(AddedTokensJson.checked(added, vocabulary, origin), Normalizer.NONE);
        return new Pipeline(
                tokens,
                normalizer(),
                PreTokenizer.NONE,
                model(),
                vocabulary,
                config.postProcessor(tokens, vocabulary).orElseGet(this::customaryTokens),
                decoder());
    }

    private Normalizer normalizer() {
        SentencePieceModel.NormalizerSpec spec = file.normalizer();
        boolean suffix = file.trainer().treatWhiteSpaceAsSuffix();
        var options = new SentencePieceNormalizer.Options(
                spec.addDummyPrefix() && !suffix,
                spec.addDummyPrefix() && suffix,
                spec.removeExtraSpaces(),
                spec.escapeSpaces());
        Optional<CharacterMap> map = spec.characterMap().length == 0
                ? Optional.empty()
                : Optional.of(CharacterMap.read(spec.characterMap(), origin));
        return new SentencePieceNormalizer(options, map, userDefined);
    }

    private Model model() {
        return switch (file.trainer().type()) {
            case UNIGRAM -> unigram();
            case BPE -> new UserDefinedModel(userDefined, bytePairs());
            case WORD, CHARACTER ->
                throw new CheckpointException(origin + " is a model of type "
                        + file.trainer().type() + ", only unigram and bpe are supported");
        };
    }

    private Model bytePairs() {
        float[] scores = new float[file.pieces().size()];
        for (int id = 0; id < scores.length; id++) {
            scores[id] = file.pieces().get(id).score();
            if (kindOf(id) == SentencePieceModel.Kind.UNUSED) {
                throw new CheckpointException(
                        origin + ": piece " + id + " is unused (type 5), which is not supported in a bpe model");
            }
        }
        return new BytePairBuilder(vocabulary, scores.length)
                .byteFallback(file.trainer().byteFallback())
                .unknown(file.pieces().get(unknownId).text())
                .fuseUnknown(true)
                .scoredMerges(scores, this::isText)
                .build();
    }

    /** Whether text can become this token. */
    private boolean isText(int id) {
        SentencePieceModel.Kind kind = kindOf(id);
        return kind == SentencePieceModel.Kind.NORMAL || kind == SentencePieceModel.Kind.USER_DEFINED;
    }

    private Model unigram() {
        float smallest = Float.MAX_VALUE;
        float largest = Float.MIN_NORMAL; // as SentencePiece does: not the most negative number
        for (SentencePieceModel.Piece piece : file.pieces()) {
            if (piece.kind() == SentencePieceModel.Kind.NORMAL) {
                smallest = Math.min(smallest, piece.score());
                largest = Math.max(largest, piece.score());
            }
        }
        var trie = new PieceTrie();
        double[] scores = new double[file.pieces().size()];
        for (int id = 0; id < scores.length; id++) {
            SentencePieceModel.Piece piece = file.pieces().get(id);
            if (isText(id)) {
                trie.insert(piece.text(), id);
                scores[id] = piece.kind() == SentencePieceModel.Kind.USER_DEFINED
                        ? utf8Length(piece.text()) * largest - 0.1
                        : piece.score();
            }
        }
        var parts = new UnigramModel.Parts(trie, scores, smallest, unknownId);
        return UnigramModel.ofFloats(parts, (text, start, end, ids) -> {
            if (!bytes.append(text, start, end, ids)) {
                ids.add(unknownId);
            }
        });
    }

    private static int utf8Length(String text) {
        return text.codePoints().map(PrefixRewriter::utf8Length).sum();
    }

    private PostProcessor customaryTokens() {
        int begin = vocabulary.find(BEGIN);
        int end = vocabulary.find(END);
        boolean isUnigram = file.trainer().type() == SentencePieceModel.ModelType.UNIGRAM;
        int[] before = begin < 0 || isUnigram ? new int[0] : new int[] {begin};
        int[] after = end < 0 || !isUnigram ? new int[0] : new int[] {end};
        return PostProcessors.around(before, after);
    }

    private Decoder decoder() {
        SentencePieceModel.NormalizerSpec spec = file.normalizer();
        return new SentencePieceStage(
                file.pieces().get(unknownId).text(),
                file.trainer().unknownSurface(),
                spec.addDummyPrefix(),
                spec.removeExtraSpaces());
    }
}
