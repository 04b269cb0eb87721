package roselle.conversation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import roselle.conversation.AnswerParser.Begun;
import roselle.conversation.format.CallFormat;
import roselle.conversation.format.ThoughtFormat;
import roselle.conversation.parse.CallReaders;
import roselle.conversation.parse.Letters;
import roselle.conversation.parse.ToolTypes;
import roselle.tokenizer.Tokenizer;

/** What a model's chats look like: the tokens that end its turns, how it marks its thoughts, how it writes calls of tools. */
public final class ConversationFormat {
    /** Special tokens that end a turn, of all families; a checkpoint may name others. */
    private static final List<String> TURN_ENDS = List.of(
            "<|im_end|>",
            "<|endoftext|>",
            "<｜end▁of▁sentence｜>",
            "<|eot_id|>",
            "<|eom_id|>",
            "<EOT>",
            "<end_of_turn>",
            "<turn|>",
            "<|end|>",
            "<|end_of_text|>",
            "<|END_OF_TURN_TOKEN|>",
            "<|return|>",
            "<|call|>");

    /** Of models whose answers are text and nothing else. */
    public static final ConversationFormat PLAIN =
            new ConversationFormat(List.of(), ThoughtFormat.NONE, CallFormat.NONE, new Letters(Map.of()));

    /** Tokens at a prompt's end in which it may begin a thought or a call. */
    private static final int TAIL_TOKENS = 32;

    private final List<Integer> endTokens;
    private final ThoughtFormat thoughts;
    private final CallFormat calls;
    private final CallFormat lettered;
    private final List<String> thoughtBegins;
    private final Letters letters;
    private final Marks marks;
    private int thoughtBeginId = -1;
    private int thoughtEndId = -1;

    private ConversationFormat(List<Integer> endTokens, ThoughtFormat thoughts, CallFormat calls, Letters letters) {
        this.endTokens = List.copyOf(endTokens);
        this.thoughts = thoughts;
        this.calls = calls;
        this.letters = letters;
        lettered = calls.map(letters);
        ThoughtFormat letteredThoughts = thoughts.map(letters);
        thoughtBegins = letteredThoughts.begins().stream().map(String::strip).toList();
        marks = new Marks(letteredThoughts, lettered);
    }

    /** These formats, in the letters of a vocabulary. */
    static ConversationFormat of(Tokenizer tokenizer, ThoughtFormat thoughts, CallFormat calls) {
        var letters = new Letters(specialTokens(tokenizer, literals(thoughts, calls)));
        var format = new ConversationFormat(endTokens(tokenizer, thoughts), thoughts, calls, letters);
        format.thoughtBeginId = id(tokenizer, thoughts.begins());
        format.thoughtEndId = id(tokenizer, thoughts.ends());
        return format;
    }

    /** These formats, of answers in which special tokens are text, or those letters. */
    static ConversationFormat ofText(ThoughtFormat thoughts, CallFormat calls, Letters letters) {
        return new ConversationFormat(List.of(), thoughts, calls, letters);
    }

    private static int id(Tokenizer tokenizer, List<String> marks) {
        return marks.isEmpty() ? -1 : tokenizer.idOf(marks.getFirst()).orElse(-1);
    }

    /** What ends a thought does not end the turn. */
    private static List<Integer> endTokens(Tokenizer tokenizer, ThoughtFormat thoughts) {
        return TURN_ENDS.stream()
                .filter(spelling -> !thoughts.ends().contains(spelling))
                .flatMapToInt(spelling -> tokenizer.idOf(spelling).stream())
                .filter(tokenizer::isSpecial)
                .sorted()
                .distinct()
                .boxed()
                .toList();
    }

    private static List<String> literals(ThoughtFormat thoughts, CallFormat calls) {
        var literals = new ArrayList<String>();
        thoughts.map(literal -> collect(literal, literals));
        calls.map(literal -> collect(literal, literals));
        return literals;
    }

    private static String collect(String literal, List<String> literals) {
        literals.add(literal);
        return literal;
    }

    /** The special tokens that literals are spelled with. */
    private static Map<String, Integer> specialTokens(Tokenizer tokenizer, List<String> literals) {
        String all = String.join("\n", literals);
        var found = new HashMap<String, Integer>();
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            if (tokenizer.hasToken(id) && tokenizer.isSpecial(id)) {
                String spelling = tokenizer.spellingOf(id);
                if (spelling.length() > 1 && all.contains(spelling)) {
                    found.put(spelling, id);
                }
            }
        }
        return found;
    }

    /** Ids of the tokens that end a turn, ascending. */
    public List<Integer> endTokens() {
        return endTokens;
    }

    /** How calls are written. */
    public CallFormat calls() {
        return calls;
    }

    /** How thoughts are marked. */
    public ThoughtFormat thoughts() {
        return thoughts;
    }

    /** The name of the format of calls; {@code none} where there is none. */
    public String toolParser() {
        return calls.name();
    }

    /** Whether it is known how the model calls tools. */
    public boolean canCall() {
        return !calls.equals(CallFormat.NONE);
    }

    /** The letter that stands for a special token in what {@link AnswerParser#append} takes; 0 for none. */
    public char letter(int id) {
        return letters.of(id);
    }

    /** A text as {@link AnswerParser#append} takes it, without what would be taken for a special token. */
    public static String plain(String text) {
        return Letters.plain(text);
    }

    /**
     * A parser of the answer to a prompt, at its beginning.
     *
     * @param tools that may be called, in the JSON form of OpenAI's {@code tools}; without any, a marked call is text
     */
    public AnswerParser parser(Tokenizer tokenizer, int[] prompt, List<Map<String, Object>> tools) {
        return parser(tail(tokenizer, prompt), tools, goesOnThinking(prompt));
    }

    /** A parser of the answer to a prompt that ends with a text. */
    AnswerParser parser(String promptEnd, List<Map<String, Object>> tools, boolean isThinking) {
        boolean mayCall = (!tools.isEmpty() && canCall()) || calls.namesReader();
        var readers = mayCall ? new CallReaders(lettered, new ToolTypes(tools)) : null;
        return new AnswerParser(marks, readers, isThinking ? Begun.THOUGHT : begun(promptEnd.stripTrailing(), mayCall));
    }

    /** What comes before the text of the answer to a prompt. */
    public AnswerLead lead(Tokenizer tokenizer, int[] prompt) {
        ThoughtFormat spelled = thoughts.map(letters);
        List<String> channels = thoughts.finalChannels().stream().map(letters).toList();
        if (!channels.isEmpty()) {
            return AnswerLead.until(tokenizer, letters, channels);
        }
        String promptEnd = tail(tokenizer, prompt).stripTrailing();
        if (goesOnThinking(prompt) || begun(promptEnd, false) == Begun.THOUGHT) {
            return AnswerLead.until(tokenizer, letters, spelled.ends());
        }
        return thoughtBeginId < 0
                ? AnswerLead.none(tokenizer)
                : AnswerLead.after(thoughtBeginId, tokenizer, letters, spelled.ends());
    }

    /** What comes before the text and the calls of the answer to a prompt: thoughts, where they are in no channel. */
    public AnswerLead callLead(Tokenizer tokenizer, int[] prompt) {
        return thoughts.isChannelled() ? AnswerLead.none(tokenizer) : lead(tokenizer, prompt);
    }

    private Begun begun(String promptEnd, boolean mayCall) {
        if (thoughtBegins.stream().anyMatch(promptEnd::endsWith)) {
            return Begun.THOUGHT;
        }
        return mayCall && lettered.beginMarks().stream().anyMatch(promptEnd::endsWith) ? Begun.CALL : Begun.NOTHING;
    }

    /** The end of a prompt, in the letters of the marks. */
    private String tail(Tokenizer tokenizer, int[] prompt) {
        var text = new StringBuilder();
        var run = new ArrayList<Integer>();
        for (int position = Math.max(0, prompt.length - TAIL_TOKENS); position < prompt.length; position++) {
            char letter = letter(prompt[position]);
            if (letter != 0) {
                decode(tokenizer, run, text);
                text.append(letter);
            } else if (tokenizer.hasToken(prompt[position])) {
                run.add(prompt[position]);
            }
        }
        decode(tokenizer, run, text);
        return text.toString();
    }

    private static void decode(Tokenizer tokenizer, List<Integer> run, StringBuilder text) {
        text.append(tokenizer.decode(run.stream().mapToInt(Integer::intValue).toArray(), true));
        run.clear();
    }

    /** Whether a prompt ends within a thought, which the answer then goes on with. */
    private boolean goesOnThinking(int[] prompt) {
        if (thoughtBeginId < 0 || thoughtEndId < 0) {
            return false;
        }
        for (int position = prompt.length - 1; position >= 0; position--) {
            if (prompt[position] == thoughtEndId) {
                return false;
            }
            if (prompt[position] == thoughtBeginId) {
                return true;
            }
        }
        return false;
    }
}
