package roselle.spring;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.model.tool.DefaultToolCallingChatOptions;
import org.springframework.ai.model.tool.StructuredOutputChatOptions;
import org.springframework.ai.model.tool.ToolCallingChatOptions;

/** Spring AI's options of chats, tools and schemas together, and a seed. */
public final class RoselleChatOptions extends DefaultToolCallingChatOptions implements StructuredOutputChatOptions {
    private final @Nullable String outputSchema;
    private final @Nullable Long seed;

    private RoselleChatOptions(ToolCallingChatOptions plain, @Nullable String outputSchema, @Nullable Long seed) {
        super(
                plain.getToolCallbacks(),
                plain.getToolContext(),
                plain.getModel(),
                plain.getFrequencyPenalty(),
                plain.getMaxTokens(),
                plain.getPresencePenalty(),
                plain.getStopSequences(),
                plain.getTemperature(),
                plain.getTopK(),
                plain.getTopP());
        this.outputSchema = outputSchema;
        this.seed = seed;
    }

    /** A builder without any option. */
    public static Builder builder() {
        return new Builder();
    }

    /** The JSON schema that answers are held to. */
    @Override
    public @Nullable String getOutputSchema() {
        return outputSchema;
    }

    /** What draws the same tokens again. */
    public @Nullable Long getSeed() {
        return seed;
    }

    @Override
    public Builder mutate() {
        return builder()
                .model(getModel())
                .frequencyPenalty(getFrequencyPenalty())
                .maxTokens(getMaxTokens())
                .presencePenalty(getPresencePenalty())
                .stopSequences(getStopSequences())
                .temperature(getTemperature())
                .topK(getTopK())
                .topP(getTopP())
                .toolCallbacks(getToolCallbacks())
                .toolContext(getToolContext())
                .outputSchema(outputSchema)
                .seed(seed);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return super.equals(other)
                && other instanceof RoselleChatOptions that
                && Objects.equals(outputSchema, that.outputSchema)
                && Objects.equals(seed, that.seed);
    }

    @Override
    public int hashCode() {
        return Objects.hash(super.hashCode(), outputSchema, seed);
    }

    /** Collects options; what is null is left to the model. */
    public static final class Builder extends DefaultToolCallingChatOptions.Builder<Builder>
            implements StructuredOutputChatOptions.Builder<Builder> {
        private @Nullable String outputSchema;
        private @Nullable Long seed;

        private Builder() {}

        @Override
        public Builder outputSchema(@Nullable String value) {
            outputSchema = value;
            return this;
        }

        public Builder seed(@Nullable Long value) {
            seed = value;
            return this;
        }

        @Override
        public Builder combineWith(ChatOptions.Builder<?> other) {
            super.combineWith(other);
            ChatOptions built = other.build();
            if (built instanceof StructuredOutputChatOptions structured && structured.getOutputSchema() != null) {
                outputSchema = structured.getOutputSchema();
            }
            if (built instanceof RoselleChatOptions ours && ours.seed != null) {
                seed = ours.seed;
            }
            return this;
        }

        @Override
        public RoselleChatOptions build() {
            return new RoselleChatOptions(super.build(), outputSchema, seed);
        }
    }
}
