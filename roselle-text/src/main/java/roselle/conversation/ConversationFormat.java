package roselle.conversation;

import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;
import roselle.tokenizer.Tokenizer;

/**
 * What a model's chats look like: the tokens that end its turns, and those around its thoughts and calls of tools.
 *
 * @param endTokens ids of the tokens that end a turn, ascending; a checkpoint may name others
 * @param thoughts around a thought; each may be missing
 * @param calls around calls; each may be missing
 * @param syntax how calls are written
 */
public record ConversationFormat(List<Integer> endTokens, Marks thoughts, Marks calls, CallSyntax syntax) {
    /** Of models whose answers are text and nothing else. */
    public static final ConversationFormat PLAIN =
            new ConversationFormat(List.of(), Marks.NONE, Marks.NONE, _ -> List.of());

    public ConversationFormat {
        endTokens = List.copyOf(endTokens);
    }

    /** The tokens before and after a stretch of an answer. */
    public record Marks(Mark begin, Mark end) {
        static final Marks NONE = new Marks(Mark.NONE, Mark.NONE);
    }

    /**
     * One token, or none.
     *
     * @param id −1 for none
     * @param text what it adds to the text of an answer, where it is no special token
     */
    public record Mark(int id, String text) {
        static final Mark NONE = new Mark(-1, "");
    }

    /** The format that a vocabulary has tokens for. */
    public static ConversationFormat of(Tokenizer tokenizer) {
        Family calls = first(tokenizer, Family::calls);
        return new ConversationFormat(
                endTokens(tokenizer),
                marks(tokenizer, first(tokenizer, Family::thoughts).thoughts()),
                marks(tokenizer, calls.calls()),
                calls.syntax());
    }

    private static List<Integer> endTokens(Tokenizer tokenizer) {
        return Family.ALL.stream()
                .flatMap(family -> family.ends().stream())
                .flatMapToInt(spelling -> tokenizer.idOf(spelling).stream())
                .filter(tokenizer::isSpecial)
                .sorted()
                .distinct()
                .boxed()
                .toList();
    }

    /** The first family whose pair of marks begins with a token of the vocabulary, or one without marks. */
    private static Family first(Tokenizer tokenizer, Function<Family, Family.Pair> pair) {
        return Family.ALL.stream()
                .filter(family -> hasToken(tokenizer, pair.apply(family).begin()))
                .findFirst()
                .orElse(Family.NONE);
    }

    private static boolean hasToken(Tokenizer tokenizer, String spelling) {
        return !spelling.isEmpty() && tokenizer.idOf(spelling).isPresent();
    }

    private static Marks marks(Tokenizer tokenizer, Family.Pair pair) {
        return new Marks(mark(tokenizer, pair.begin()), mark(tokenizer, pair.end()));
    }

    private static Mark mark(Tokenizer tokenizer, String spelling) {
        OptionalInt id = spelling.isEmpty() ? OptionalInt.empty() : tokenizer.idOf(spelling);
        if (id.isEmpty()) {
            return Mark.NONE;
        }
        return new Mark(id.getAsInt(), tokenizer.isSpecial(id.getAsInt()) ? "" : spelling);
    }

    /**
     * A parser of the answer to a prompt, at its beginning.
     *
     * @param mayCall whether there are tools to call; without any, a marked call is text
     */
    public AnswerParser parser(int[] prompt, boolean mayCall) {
        return new AnswerParser(this, mayCall, endsInThought(prompt));
    }

    /** Whether a prompt ends within a thought, which the answer then goes on with: some templates begin it. */
    boolean endsInThought(int[] prompt) {
        if (thoughts.equals(Marks.NONE)) {
            return false;
        }
        for (int position = prompt.length - 1; position >= 0; position--) {
            if (prompt[position] == thoughts.end().id()) {
                return false;
            }
            if (prompt[position] == thoughts.begin().id()) {
                return true;
            }
        }
        return false;
    }
}
