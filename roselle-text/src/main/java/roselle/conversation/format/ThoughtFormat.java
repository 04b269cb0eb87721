package roselle.conversation.format;

import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * How a family of models marks what it thinks before it answers. A thought is begun by the model, or by the prompt, or there is
 * none.
 *
 * @param name whose thoughts
 * @param begins what comes before a thought, any of them
 * @param ends what comes behind it, any of them
 * @param silent marks around the answer itself, which are no part of it
 */
public record ThoughtFormat(String name, List<String> begins, List<String> ends, List<String> silent) {
    /** Of models that mark no thoughts. */
    public static final ThoughtFormat NONE = new ThoughtFormat("", List.of(), List.of(), List.of());

    public ThoughtFormat {
        begins = List.copyOf(begins);
        ends = List.copyOf(ends);
        silent = List.copyOf(silent);
    }

    private static ThoughtFormat of(String name, String begin, String end, String... silent) {
        return new ThoughtFormat(name, List.of(begin), List.of(end), List.of(silent));
    }

    /** All that are known; a template speaks as the first whose beginning and end it writes. */
    static final List<ThoughtFormat> ALL = List.of(
            of("roselle", "<|think|>", "<|/think|>"),
            new ThoughtFormat(
                    "openai",
                    List.of("<|channel|>analysis<|message|>"),
                    List.of("<|end|>", "<|start|>assistant<|channel|>final<|message|>"),
                    List.of(
                            "<|start|>assistant<|channel|>final<|message|>",
                            "<|start|>assistant<|channel|>commentary<|message|>",
                            "<|channel|>final<|message|>",
                            "<|channel|>commentary<|message|>",
                            "<|return|>")),
            of("seed", "<seed:think>", "</seed:think>"),
            of("minimax_m3", "<mm:think>", "</mm:think>"),
            of("mistral", "[THINK]", "[/THINK]"),
            of(
                    "cohere",
                    "<|START_THINKING|>",
                    "<|END_THINKING|>",
                    "<|START_RESPONSE|>",
                    "<|END_RESPONSE|>",
                    "<|START_TEXT|>",
                    "<|END_TEXT|>"),
            of("gemma4", "<|channel>thought", "<channel|>"),
            of("apertus", "<|inner_prefix|>", "<|inner_suffix|>"),
            of(
                    "kimi_k3",
                    "<|open|>think<|sep|>",
                    "<|close|>think<|sep|>",
                    "<|open|>response<|sep|>",
                    "<|close|>response<|sep|>",
                    "<|close|>message<|sep|>"),
            of("inkling", "<|content_thinking|>", "<|end_message|>", "<|content_text|>", "<|message_model|>"),
            of("solar", "<|think|>", "<|end|>", "<|begin|>assistant", "<|content|>"),
            of("granite", "Here is my thought process:", "Here is my response:"),
            of("apriel", "Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]"),
            of("apriel_1_6", "Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),
            of("kimi_vl", "◁think▷", "◁/think▷"),
            of("exaone", "<thought>", "</thought>"),
            of("hunyuan", "<think>", "</think>", "<answer>", "</answer>"),
            of("minimax", "<think>", "</think>", "[e~["),
            of("ernie", "<think>", "</think>", "<response>", "</response>"),
            of("think", "<think>", "</think>"));

    /** The first format whose marks are all there. */
    public static Optional<ThoughtFormat> find(Predicate<String> isThere) {
        return ALL.stream().filter(format -> format.isSpoken(isThere)).findFirst();
    }

    /** The format of a name. */
    public static Optional<ThoughtFormat> named(String name) {
        return ALL.stream().filter(format -> format.name().equals(name)).findFirst();
    }

    /** Whether every text of an answer stands in a channel that is named before it. */
    public boolean isChannelled() {
        return begins.stream().anyMatch(begin -> begin.startsWith("<|channel|>"));
    }

    /** The marks of channels in which answers stand; none where texts are not in channels. */
    public List<String> finalChannels() {
        return isChannelled()
                ? silent.stream().filter(mark -> mark.contains("final")).toList()
                : List.of();
    }

    private boolean isSpoken(Predicate<String> isThere) {
        return begins.stream().anyMatch(isThere)
                && ends.stream().anyMatch(isThere)
                && (silent.isEmpty() || silent.stream().anyMatch(isThere));
    }

    /** The same with other letters in its marks, such as one for each special token of a vocabulary. */
    public ThoughtFormat map(UnaryOperator<String> letters) {
        return new ThoughtFormat(
                name,
                begins.stream().map(letters).toList(),
                ends.stream().map(letters).toList(),
                silent.stream().map(letters).toList());
    }
}
