package roselle.cli.run;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import roselle.api.ChatMessage;
import roselle.api.GenerationRequest;
import roselle.api.OutputOptions;
import roselle.api.Prompt;
import roselle.api.ResponseFormat;
import roselle.api.SamplingParameters;
import roselle.api.SchedulingOptions;
import roselle.api.StopConditions;
import roselle.conversation.Effort;

/**
 * Makes requests that differ in their prompt only.
 *
 * @param adapter the engine's name of the adapter that answers; empty for none
 * @param tools what the model may call
 * @param thinking what the template is told about {@code enable_thinking}; empty to leave it to the template
 */
record Requests(
        SamplingParameters sampling,
        StopConditions stop,
        OutputOptions output,
        Optional<Boolean> thinking,
        ResponseFormat format,
        String adapter,
        List<Map<String, Object>> tools) {
    /** The same, drawn, ended and thought about in another way. */
    Requests with(SamplingParameters drawn, StopConditions ended, Optional<Boolean> thought) {
        return new Requests(drawn, ended, output, thought, format, adapter, tools);
    }

    /** Continues a text, in which spellings of special tokens count as such. */
    GenerationRequest raw(String text) {
        return of(new Prompt.Text(text, true, true));
    }

    /** Answers a conversation. */
    GenerationRequest chat(List<ChatMessage> messages) {
        Map<String, Object> variables = thinking.<Map<String, Object>>map(
                        value -> Map.of(Effort.ENABLE_THINKING, value))
                .orElse(Map.of());
        return of(new Prompt.Chat(messages, tools, variables));
    }

    private GenerationRequest of(Prompt prompt) {
        return new GenerationRequest(prompt, sampling, stop, output, SchedulingOptions.DEFAULT, format, adapter);
    }
}
