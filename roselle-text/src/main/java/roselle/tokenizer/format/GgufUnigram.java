package roselle.tokenizer.format;

import java.util.Optional;
import roselle.api.CheckpointException;
import roselle.tokenizer.GgufVocabulary;
import roselle.tokenizer.model.Model;
import roselle.tokenizer.model.PieceTrie;
import roselle.tokenizer.model.UnigramModel;
import roselle.tokenizer.normalizer.CharacterMap;
import roselle.tokenizer.normalizer.Growth;
import roselle.tokenizer.normalizer.Normalizer;
import roselle.tokenizer.normalizer.PrefixRewriter;

/** The Unigram model of a GGUF file, as llama.cpp runs it: SentencePiece's, with sums in double precision. */
final class GgufUnigram {
    private static final char SPACE_MARK = '▁';

    private GgufUnigram() {}

    static Model model(GgufVocabulary file, int unknownId) {
        if (file.scores().length != file.tokens().size()) {
            throw new CheckpointException(
                    "tokenizer.ggml.scores has " + file.scores().length + " entries, but tokenizer.ggml.tokens has "
                            + file.tokens().size() + ": model 't5' needs a score each");
        }
        var trie = new PieceTrie();
        double[] scores = new double[file.tokens().size()];
        float smallest = Float.MAX_VALUE;
        for (int id = 0; id < scores.length; id++) {
            int type = file.typeOf(id);
            if (type == GgufVocabulary.NORMAL) {
                smallest = Math.min(smallest, file.scores()[id]);
            }
            boolean isText = type == GgufVocabulary.NORMAL
                    || type == GgufVocabulary.USER_DEFINED
                    || type == GgufVocabulary.UNUSED;
            if (isText && !file.tokens().get(id).isEmpty()) {
                trie.insert(file.tokens().get(id), id);
                scores[id] = type == GgufVocabulary.USER_DEFINED ? 0 : file.scores()[id];
            }
        }
        var parts = new UnigramModel.Parts(trie, scores, smallest, unknownId);
        return UnigramModel.ofDoubles(parts, (text, start, end, ids) -> ids.add(unknownId));
    }

    /** Character map and spaces; where runs of spaces are merged, each word gets one before it. */
    static Normalizer normalizer(GgufVocabulary file) {
        Optional<CharacterMap> map = file.precompiledCharsmap().length == 0
                ? Optional.empty()
                : Optional.of(CharacterMap.read(file.precompiledCharsmap(), "tokenizer.ggml.precompiled_charsmap"));
        var userDefined = new PieceTrie();
        for (int id = 0; id < file.tokens().size(); id++) {
            if (file.typeOf(id) == GgufVocabulary.USER_DEFINED
                    && !file.tokens().get(id).isEmpty()) {
                userDefined.insert(file.tokens().get(id), id);
            }
        }
        boolean merges = file.flag("remove_extra_whitespaces", false);
        boolean prefixes = file.flag("add_space_prefix", false);
        return (text, limit) -> {
            var result = new StringBuilder(text.length() + 8);
            var rewriter = new PrefixRewriter(text, map, userDefined);
            boolean inWord = false;
            boolean hasPrefix = !prefixes;
            while (!rewriter.isDone()) {
                String part = rewriter.next();
                for (int i = 0; i < part.length(); i++) {
                    boolean isSpace = part.charAt(i) == ' ';
                    if (!isSpace && !inWord && (!hasPrefix || merges)) {
                        result.append(SPACE_MARK);
                        hasPrefix = true;
                    }
                    inWord = !isSpace;
                    if (!isSpace || !merges) {
                        result.append(isSpace ? SPACE_MARK : part.charAt(i));
                    }
                }
                Growth.check(result.length(), limit);
            }
            return result.toString();
        };
    }
}
