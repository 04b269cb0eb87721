package roselle.tokenizer.pretokenizer;

import roselle.tokenizer.pattern.Pattern;
import roselle.tokenizer.pattern.PatternMatcher;

/** Splits at the matches of a regular expression. */
public record PatternPreTokenizer(Pattern pattern, SplitBehavior behavior, boolean invert) implements PreTokenizer {
    @Override
    public void split(String text, int start, int end, boolean first, PieceSink sink) {
        var joiner = new PieceJoiner(behavior, text, first ? start : -1, sink);
        var matcher = new PatternMatcher(pattern, text, start, end);
        int done = start;
        int from = start;
        int lastMatchEnd = -1;
        while (from <= end && matcher.find(from)) {
            int matchStart = matcher.matchStart();
            int matchEnd = matcher.matchEnd();
            if (matchStart == matchEnd && matchEnd == lastMatchEnd) {
                from += from < end ? Character.charCount(text.codePointAt(from)) : 1;
                continue;
            }
            if (matchStart > done) {
                joiner.accept(done, matchStart, invert);
            }
            joiner.accept(matchStart, matchEnd, !invert);
            done = matchEnd;
            from = matchEnd;
            lastMatchEnd = matchEnd;
        }
        if (done < end) {
            joiner.accept(done, end, invert);
        }
        joiner.finish();
    }

    @Override
    public boolean keepsText() {
        return behavior != SplitBehavior.REMOVED;
    }
}
