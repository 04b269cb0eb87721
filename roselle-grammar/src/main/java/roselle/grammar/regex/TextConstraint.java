package roselle.grammar.regex;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.State;

/** The texts of one language, in UTF-8. */
public final class TextConstraint implements Constraint {
    private final Languages languages;
    private final Map<TextLexeme, TextState> states = new HashMap<>();
    private final TextState start;

    /** A constraint to texts of a language; the budget of the languages is refilled for each step that is new. */
    public TextConstraint(Languages languages, Language language) {
        this.languages = languages;
        synchronized (languages.lock()) {
            TextLexeme first = TextLexeme.of(languages, language, TextLexeme.Spelling.RAW);
            if (first == null) {
                throw new GrammarException(GrammarException.Reason.EMPTY, "no text belongs to the constraint.");
            }
            this.start = state(first);
        }
    }

    @Override
    public State start() {
        return start;
    }

    private TextState state(TextLexeme lexeme) {
        synchronized (languages.lock()) {
            return states.computeIfAbsent(lexeme, TextState::new);
        }
    }

    private final class TextState implements State {
        private final TextLexeme lexeme;
        private volatile @Nullable TextState @Nullable [] next; // by octet; the lexeme knows which are none

        TextState(TextLexeme lexeme) {
            this.lexeme = lexeme;
        }

        @Override
        public @Nullable State advance(int octet) {
            TextState[] known = next;
            if (known != null && known[octet] != null) {
                return known[octet];
            }
            synchronized (languages.lock()) {
                languages.budget().refill();
                TextLexeme behind = lexeme.next(octet);
                if (behind == null) {
                    return null;
                }
                TextState state = state(behind);
                if (next == null) {
                    next = new TextState[256];
                }
                Objects.requireNonNull(next)[octet] = state;
                return state;
            }
        }

        @Override
        public boolean isAccepting() {
            return lexeme.mayEnd();
        }

        @Override
        public int branches() {
            return 1;
        }

        @Override
        public Lexeme lexeme(int branch) {
            return lexeme;
        }

        @Override
        public @Nullable State leave(int branch, Lexeme end) {
            return null; // nothing follows
        }
    }
}
