package roselle.tokenizer.normalizer;

import roselle.tokenizer.pattern.Pattern;
import roselle.tokenizer.pattern.PatternMatcher;

/** Puts {@code content} in place of each match of a regular expression. */
public record PatternNormalizer(Pattern pattern, String content) implements Normalizer {
    @Override
    public String normalize(String text, int limit) {
        var result = new StringBuilder(text.length() + 16);
        var matcher = new PatternMatcher(pattern, text, 0, text.length());
        int done = 0;
        int from = 0;
        int lastMatchEnd = -1;
        while (from <= text.length() && matcher.find(from)) {
            if (matcher.matchStart() == matcher.matchEnd() && matcher.matchEnd() == lastMatchEnd) {
                from += from < text.length() ? Character.charCount(text.codePointAt(from)) : 1;
                continue;
            }
            result.append(text, done, matcher.matchStart()).append(content);
            Growth.check(result.length(), limit);
            done = matcher.matchEnd();
            from = done;
            lastMatchEnd = done;
        }
        return Growth.checked(result.append(text, done, text.length()).toString(), limit);
    }
}
