package roselle.tokenizer.format;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.tokenizer.AddedToken;
import roselle.tokenizer.GgufVocabulary;
import roselle.tokenizer.Tokenizer;
import roselle.tokenizer.decoder.ByteLevelDecoder;
import roselle.tokenizer.decoder.PostProcessor;
import roselle.tokenizer.decoder.SentencePieceDecoder;
import roselle.tokenizer.model.BytePairBuilder;
import roselle.tokenizer.model.GgufWordPieceModel;
import roselle.tokenizer.model.Vocabulary;
import roselle.tokenizer.normalizer.Normalizer;
import roselle.tokenizer.pipeline.AddedTokens;
import roselle.tokenizer.pipeline.Pipeline;
import roselle.tokenizer.pipeline.PipelineTokenizer;
import roselle.tokenizer.pretokenizer.GgufWords;
import roselle.tokenizer.pretokenizer.PreTokenizer;

/** Reads what a GGUF file says about its tokenizer into a pipeline. */
final class GgufTokenizer {
    private static final char SPACE_MARK = '\u2581';

    private final GgufVocabulary file;
    private final Vocabulary vocabulary;
    private final AddedTokens added;
    private final Set<String> userDefined = new HashSet<>();

    GgufTokenizer(GgufVocabulary file) {
        this.file = file;
        requireLength("scores", file.scores().length);
        requireLength("token_type", file.tokenType().length);
        vocabulary = readVocabulary();
        added = new AddedTokens(readAdded(), Normalizer.NONE);
    }

    private void requireLength(String key, int length) {
        if (length != 0 && length != file.tokens().size()) {
            throw new CheckpointException("tokenizer.ggml." + key + " has " + length
                    + " entries, but tokenizer.ggml.tokens has " + file.tokens().size() + ": the file is damaged");
        }
    }

    private Vocabulary readVocabulary() {
        var builder = new Vocabulary.Builder(file.tokens().size());
        for (int id = 0; id < file.tokens().size(); id++) {
            builder.add(file.tokens().get(id), id);
        }
        return builder.build();
    }

    private List<AddedToken> readAdded() {
        var tokens = new ArrayList<AddedToken>();
        for (int id = 0; id < file.tokenType().length; id++) {
            int type = file.tokenType()[id];
            boolean special = type == GgufVocabulary.CONTROL || type == GgufVocabulary.UNKNOWN;
            if (special || type == GgufVocabulary.USER_DEFINED) {
                tokens.add(AddedToken.plain(id, file.tokens().get(id), special));
                if (!special) {
                    userDefined.add(file.tokens().get(id));
                }
            }
        }
        return tokens;
    }

    /** Byte-level byte pairs, as GPT-2 introduced them. */
    Tokenizer gpt2() {
        var rule = GgufPreTokenizers.named(file.pre());
        var model = new BytePairBuilder(vocabulary, file.merges().size())
                .byteAlphabet(true)
                .ignoreMerges(rule.ignoresMerges());
        file.merges().forEach(model::merge);
        return new PipelineTokenizer(new Pipeline(
                added,
                Normalizer.NONE,
                rule.preTokenizer(),
                model.build(),
                vocabulary,
                ends(rule.addsBos(), false),
                new ByteLevelDecoder(userDefined)));
    }

    /** SentencePiece's byte pairs, with scores. */
    Tokenizer llama() {
        boolean prefix = file.flag("add_space_prefix", true);
        var model = new BytePairBuilder(vocabulary, 8 * file.tokens().size()).byteFallback(true);
        tokenId("unknown_token_id", 0).ifPresent(id -> model.unknown(vocabulary.spelling(id)));
        model.scoredMerges(file.scores(), id -> file.typeOf(id) == GgufVocabulary.NORMAL);
        Normalizer marks = (text, limit) -> (prefix ? " " + text : text).replace(' ', SPACE_MARK);
        return new PipelineTokenizer(new Pipeline(
                added,
                marks,
                PreTokenizer.NONE,
                model.build(),
                vocabulary,
                ends(true, false),
                new SentencePieceDecoder(prefix)));
    }

    /** Byte pairs of text with marked spaces, by ranked merges as GPT-2's are; what has no token is bytes. */
    Tokenizer gemma4() {
        var model = new BytePairBuilder(vocabulary, file.merges().size()).byteFallback(true);
        tokenId("unknown_token_id", 3).ifPresent(id -> model.unknown(vocabulary.spelling(id)));
        file.merges().forEach(model::merge);
        Normalizer marks = (text, limit) -> text.replace(' ', SPACE_MARK);
        return new PipelineTokenizer(new Pipeline(
                added,
                marks,
                PreTokenizer.NONE,
                model.build(),
                vocabulary,
                ends(true, false),
                new SentencePieceDecoder(false)));
    }

    /** SentencePiece's Unigram model. */
    Tokenizer t5() {
        return new PipelineTokenizer(new Pipeline(
                added,
                GgufUnigram.normalizer(file),
                PreTokenizer.NONE,
                GgufUnigram.model(file, unknownId(2)),
                vocabulary,
                ends(false, true),
                new SentencePieceDecoder(file.flag("add_space_prefix", false))));
    }

    /** BERT's WordPiece, with words marked where they begin instead of where they go on. */
    Tokenizer bert() {
        return new PipelineTokenizer(new Pipeline(
                added,
                Normalizer.NONE,
                new GgufWords(file.flag("normalizer.lowercase", true), file.flag("normalizer.strip_accents", true)),
                new GgufWordPieceModel(vocabulary, unknownId(100)),
                vocabulary,
                ends(true, true),
                new SentencePieceDecoder(true)));
    }

    private int unknownId(int fallback) {
        return tokenId("unknown_token_id", fallback)
                .orElseThrow(() -> new CheckpointException(
                        "tokenizer.ggml.unknown_token_id names no token, but model '" + file.model() + "' needs one"));
    }

    /** Puts begin and end of sequence where the file's flags say so. */
    private PostProcessor ends(boolean addsBos, boolean addsEos) {
        OptionalInt bos = tokenId(
                file.tokenId("bos_token_id").isPresent() ? "bos_token_id" : "cls_token_id", defaultEnd(1, 11, 101, -1));
        OptionalInt eos = file.model().equals("bert")
                ? tokenId(file.tokenId("seperator_token_id").isPresent() ? "seperator_token_id" : "eos_token_id", 102)
                : tokenId("eos_token_id", defaultEnd(2, 11, 102, 1));
        boolean begins = file.flag("add_bos_token", addsBos);
        boolean finishes = file.flag("add_eos_token", addsEos);
        return new GgufEnds(begins ? bos : OptionalInt.empty(), finishes ? eos : OptionalInt.empty(), between());
    }

    /** What stands between two texts that are one input. */
    private GgufEnds.Between between() {
        if (file.model().equals("bert")) {
            return GgufEnds.Between.ONE_WITH_TYPES;
        }
        boolean isDoubled = file.flag("add_sep_token", false) && !file.pre().equals("modern-bert");
        return isDoubled ? GgufEnds.Between.TWO : GgufEnds.Between.ONE;
    }

    private int defaultEnd(int llama, int gpt2, int bert, int t5) {
        return switch (file.model()) {
            case "llama", "gemma4" -> llama;
            case "bert" -> bert;
            case "t5" -> t5;
            default -> gpt2;
        };
    }

    /** The id that a key names, or {@code fallback}; empty where that is no token. */
    private OptionalInt tokenId(String key, int fallback) {
        int id = file.tokenId(key).orElse(fallback);
        return vocabulary.contains(id) ? OptionalInt.of(id) : OptionalInt.empty();
    }
}
