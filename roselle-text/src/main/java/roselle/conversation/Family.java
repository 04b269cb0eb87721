package roselle.conversation;

import java.util.List;

/**
 * How the chats of one family of models are spelled.
 *
 * @param name whose chats they are
 * @param ends special tokens that end a turn
 * @param thoughts the tokens around a thought; {@link Pair#NONE} where none mark one
 * @param calls the tokens around calls of tools
 * @param syntax how calls are written between them
 */
record Family(String name, List<String> ends, Pair thoughts, Pair calls, CallSyntax syntax) {
    /** The tokens before and after a stretch; models without the latter end with the answer, or with the next one. */
    record Pair(String begin, String end) {
        static final Pair NONE = new Pair("", "");
    }

    private static final CallSyntax JSON = new JsonCalls();
    private static final Pair THINK = new Pair("<think>", "</think>");
    private static final Pair TOOL_CALL = new Pair("<tool_call>", "</tool_call>");

    /** A family without marks, for vocabularies of no known one. */
    static final Family NONE = plain("");

    /**
     * All that are known; a new one is a line here, with a {@link CallSyntax} where it writes calls as no other does. A
     * vocabulary speaks as the first family whose marks it has, for thoughts and for calls each, and ends turns as any.
     */
    static final List<Family> ALL = List.of(
            new Family(
                    "Roselle's demo",
                    List.of("<|im_end|>"),
                    new Pair("<|think|>", "<|/think|>"),
                    new Pair("<|tool_call|>", "<|/tool_call|>"),
                    JSON),
            new Family("Qwen, Hermes", List.of("<|im_end|>", "<|endoftext|>"), THINK, TOOL_CALL, JSON),
            new Family("DeepSeek", List.of("<｜end▁of▁sentence｜>"), THINK, Pair.NONE, JSON),
            new Family("Mistral", List.of(), Pair.NONE, new Pair("[TOOL_CALLS]", "[/TOOL_CALLS]"), JSON),
            plain("Llama 3", "<|eot_id|>", "<|eom_id|>"),
            plain("Code Llama", "<EOT>"),
            plain("Gemma", "<end_of_turn>"),
            plain("Phi", "<|end|>", "<|endoftext|>"),
            plain("Granite, OLMo", "<|end_of_text|>", "<|endoftext|>"),
            plain("Command", "<|END_OF_TURN_TOKEN|>"),
            plain("gpt-oss", "<|return|>", "<|call|>", "<|end|>"));

    private static Family plain(String name, String... ends) {
        return new Family(name, List.of(ends), Pair.NONE, Pair.NONE, JSON);
    }
}
