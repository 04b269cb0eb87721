package roselle.grammar.regex;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import roselle.grammar.automaton.Budget;

/**
 * Places in texts that many constraints have, read for all of them: strings without any condition, those of some formats, numbers,
 * words. They are finitely many, so what a vocabulary knows of one is not found anew for each schema. Thread-safe.
 */
public final class SharedTexts {
    static final Languages LANGUAGES = new Languages(new Budget(Long.MAX_VALUE, Long.MAX_VALUE));

    private static final Map<String, Language> BY_NAME = new HashMap<>(); // under the lock of those

    private SharedTexts() {}

    /**
     * The beginning of a text of a shared language.
     *
     * @param name tells these languages apart; one of few
     * @param maker makes the language, which has few places
     */
    public static TextLexeme of(String name, Function<Languages, Language> maker, TextLexeme.Spelling spelling) {
        synchronized (LANGUAGES.lock()) {
            Language known = BY_NAME.get(name);
            if (known == null) {
                known = maker.apply(LANGUAGES);
                BY_NAME.put(name, known);
            }
            return TextLexeme.begin(LANGUAGES, known, spelling);
        }
    }

    static TextLexeme anyOf(TextLexeme.Spelling spelling) {
        synchronized (LANGUAGES.lock()) {
            return TextLexeme.begin(LANGUAGES, LANGUAGES.any(), spelling);
        }
    }
}
