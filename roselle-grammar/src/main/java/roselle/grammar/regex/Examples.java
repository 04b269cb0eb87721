package roselle.grammar.regex;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Texts of languages, and how many there are. */
public final class Examples {
    private static final int FEW = 12;

    private Examples() {}

    /** A shortest text of a language, or null. */
    public static @Nullable String of(Languages languages, Language language) {
        Map<Language, String> texts = new HashMap<>();
        Deque<Language> queue = new ArrayDeque<>();
        if (languages.isLive(language)) {
            texts.put(language, "");
            queue.add(language);
        }
        while (!queue.isEmpty()) {
            Language at = queue.remove();
            String text = Objects.requireNonNull(texts.get(at));
            if (at.isNullable) {
                return text;
            }
            Steps steps = languages.steps(at);
            for (int i = 0; i < steps.targets().length; i++) {
                Language target = steps.targets()[i];
                if (!target.isEmpty() && !texts.containsKey(target)) {
                    languages.budget().spend(4);
                    texts.put(target, text + Character.toString(steps.starts()[i]));
                    queue.add(target);
                }
            }
        }
        return null;
    }

    /** How many texts are in a language, or a limit if there are more. */
    public static long count(Languages languages, Language language, long limit) {
        return languages.isLive(language) ? count(languages, language, limit, 0) : 0;
    }

    /** Whether a language has so many texts, where that is seen from the symbols of a few first steps; false where it is not. */
    public static boolean hasMany(Languages languages, Language language, long wanted) {
        long found = languages.isLive(language) ? 1 : 0;
        Language at = language;
        for (int length = 0; length < FEW && found > 0 && found < wanted; length++) {
            Steps steps = languages.steps(at);
            languages.budget().spend(1);
            long most = 0;
            for (int i = 0; i < steps.targets().length; i++) {
                long symbols = steps.last(i) - steps.starts()[i] + 1L;
                if (!steps.targets()[i].isEmpty() && symbols > most) { // behind each of them lies some text
                    most = symbols;
                    at = steps.targets()[i];
                }
            }
            found *= most;
        }
        return found >= wanted;
    }

    /** Whether an expression shows that, wherever a text of it stands, it can be completed in any number of ways. */
    public static boolean areEndless(Language language) {
        return Loosening.isProlongable(language, 0);
    }

    private static long count(Languages languages, Language language, long limit, int length) {
        languages.budget().spend(4);
        long count = language.isNullable ? 1 : 0;
        if (length > 2 * Languages.MAX_DEPTH) {
            return limit; // longer than any finite list of texts that matters
        }
        Steps steps = languages.steps(language);
        for (int i = 0; i < steps.targets().length && count < limit; i++) {
            if (!steps.targets()[i].isEmpty()) {
                long symbols = steps.last(i) - steps.starts()[i] + 1L;
                long behind = count(languages, steps.targets()[i], limit - count, length + 1);
                count += Math.min(limit, symbols * behind);
            }
        }
        return Math.min(count, limit);
    }
}
