package roselle.engine.request;

import roselle.api.FailureKind;
import roselle.api.FinishReason;
import roselle.execution.PromptEmbedding;
import roselle.execution.PromptScores;

/** What the engine tells a generation beside its tokens. */
public sealed interface Signal {
    /** The prompt was scored. */
    record Scored(PromptScores scores) implements Signal {}

    /** The prompt's hidden states were read. */
    record Embedded(PromptEmbedding states) implements Signal {}

    /** A choice generates no more tokens. */
    record Ended(int choice, FinishReason reason) implements Signal {}

    /** All choices have ended. */
    record Completed(int promptTokens, int cachedTokens, long queueNanos, long firstTokenNanos, long totalNanos)
            implements Signal {}

    /** The request cannot be completed. */
    record Broken(FailureKind kind, String message) implements Signal {}
}
