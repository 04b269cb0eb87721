package roselle.tokenizer.normalizer;

import java.util.Optional;
import roselle.tokenizer.model.PieceTrie;

/**
 * SentencePiece's normalizer: character map, spaces merged and escaped, one space put before the text.
 *
 * <p>At each place the longest user-defined token stays as it is, else the longest key of the character map is replaced.
 */
public final class SentencePieceNormalizer implements Normalizer {
    static final char SPACE_SYMBOL = '▁';

    private final Options options;
    private final Optional<CharacterMap> map;
    private final PieceTrie userDefined;

    /**
     * What happens to spaces.
     *
     * @param prefix put one before the text
     * @param suffix put one after the text
     * @param merge drop those at the ends and all but one of a run
     * @param escape spell them ▁
     */
    public record Options(boolean prefix, boolean suffix, boolean merge, boolean escape) {}

    public SentencePieceNormalizer(Options options, Optional<CharacterMap> map, PieceTrie userDefined) {
        this.options = options;
        this.map = map;
        this.userDefined = userDefined;
    }

    @Override
    public String normalize(String text, int limit) {
        var result = new StringBuilder(text.length() + 8);
        char space = options.escape() ? SPACE_SYMBOL : ' ';
        var rewriter = new PrefixRewriter(text, map, userDefined);
        if (options.merge()) {
            rewriter.skipSpaces();
        }
        if (rewriter.isDone()) {
            return "";
        }
        if (options.prefix()) {
            result.append(space);
        }
        append(rewriter, result, space, limit);
        if (options.merge()) {
            int end = result.length();
            while (end > 0 && result.charAt(end - 1) == space) {
                end--;
            }
            result.setLength(end);
        }
        if (options.suffix()) {
            result.append(space);
        }
        return result.toString();
    }

    private void append(PrefixRewriter rewriter, StringBuilder result, char space, int limit) {
        boolean afterSpace = options.merge();
        while (!rewriter.isDone()) {
            String part = rewriter.next();
            int from = 0;
            while (afterSpace && from < part.length() && part.charAt(from) == ' ') {
                from++;
            }
            for (int i = from; i < part.length(); i++) {
                result.append(part.charAt(i) == ' ' ? space : part.charAt(i));
            }
            Growth.check(result.length(), limit);
            if (from < part.length()) {
                afterSpace = options.merge() && part.charAt(part.length() - 1) == ' ';
            }
        }
    }
}
