package roselle.server.chat;

import java.util.OptionalInt;
import roselle.tokenizer.Tokenizer;

/**
 * The tokens with which a model marks its thoughts and its calls of tools; each may be missing.
 *
 * @param thinks before a thought
 * @param thought after it
 * @param calls before the JSON of a call, or of several
 * @param called after it; models without one end with the answer, or with the next call
 */
public record Markers(Marker thinks, Marker thought, Marker calls, Marker called) {
    /** How released models spell them: pairs of which a vocabulary has both, or the first alone. */
    private static final String[][] THOUGHTS = {{"<|think|>", "<|/think|>"}, {"<think>", "</think>"}};

    private static final String[][] CALLS = {
        {"<|tool_call|>", "<|/tool_call|>"}, {"<tool_call>", "</tool_call>"}, {"[TOOL_CALLS]", "[/TOOL_CALLS]"}
    };

    /**
     * One token, or none.
     *
     * @param id −1 for none
     * @param text what it adds to the text of an answer, where it is no special token
     */
    public record Marker(int id, String text) {
        static final Marker NONE = new Marker(-1, "");
    }

    public static Markers of(Tokenizer tokenizer) {
        Marker[] thoughts = pair(tokenizer, THOUGHTS);
        Marker[] calls = pair(tokenizer, CALLS);
        return new Markers(thoughts[0], thoughts[1], calls[0], calls[1]);
    }

    private static Marker[] pair(Tokenizer tokenizer, String[][] spellings) {
        for (String[] pair : spellings) {
            if (tokenizer.idOf(pair[0]).isPresent()) {
                return new Marker[] {marker(tokenizer, pair[0]), marker(tokenizer, pair[1])};
            }
        }
        return new Marker[] {Marker.NONE, Marker.NONE};
    }

    private static Marker marker(Tokenizer tokenizer, String spelling) {
        OptionalInt id = tokenizer.idOf(spelling);
        if (id.isEmpty()) {
            return Marker.NONE;
        }
        return new Marker(id.getAsInt(), tokenizer.isSpecial(id.getAsInt()) ? "" : spelling);
    }

    /** Whether a prompt ends within a thought, which the answer then goes on with: some templates begin it. */
    public boolean isThinking(int[] prompt) {
        for (int position = prompt.length - 1; position >= 0; position--) {
            if (prompt[position] == thought.id()) {
                return false;
            }
            if (prompt[position] == thinks.id()) {
                return true;
            }
        }
        return false;
    }
}
