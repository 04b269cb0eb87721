package roselle.langchain4j;

import dev.langchain4j.exception.UnsupportedFeatureException;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.request.DefaultChatRequestParameters;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** LangChain4j's parameters of requests, and those that Roselle has beside them. */
public final class RoselleChatRequestParameters extends DefaultChatRequestParameters {
    private final @Nullable Long seed;
    private final @Nullable Double minP;
    private final @Nullable Double repetitionPenalty;
    private final @Nullable Boolean think;
    private final @Nullable Boolean parallelToolCalls;

    private RoselleChatRequestParameters(Builder builder) {
        super(builder);
        seed = builder.seed;
        minP = builder.minP;
        repetitionPenalty = builder.repetitionPenalty;
        think = builder.think;
        parallelToolCalls = builder.parallelToolCalls;
    }

    /** A builder without any parameter. */
    public static Builder builder() {
        return new Builder();
    }

    /** What draws the same tokens again. */
    public @Nullable Long seed() {
        return seed;
    }

    /** Tokens less likely than this share of the likeliest are dropped. */
    public @Nullable Double minP() {
        return minP;
    }

    public @Nullable Double repetitionPenalty() {
        return repetitionPenalty;
    }

    /** Whether the model thinks before it answers; refused where its chat template does not know {@code enable_thinking}. */
    public @Nullable Boolean think() {
        return think;
    }

    /** Whether one answer may call several tools. */
    public @Nullable Boolean parallelToolCalls() {
        return parallelToolCalls;
    }

    @Override
    public RoselleChatRequestParameters overrideWith(ChatRequestParameters that) {
        return builder().overrideWith(this).overrideWith(that).build();
    }

    @Override
    public RoselleChatRequestParameters defaultedBy(ChatRequestParameters that) {
        return builder().overrideWith(that).overrideWith(this).build();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return super.equals(other)
                && other instanceof RoselleChatRequestParameters that
                && Objects.equals(seed, that.seed)
                && Objects.equals(minP, that.minP)
                && Objects.equals(repetitionPenalty, that.repetitionPenalty)
                && Objects.equals(think, that.think)
                && Objects.equals(parallelToolCalls, that.parallelToolCalls);
    }

    @Override
    public int hashCode() {
        return Objects.hash(super.hashCode(), seed, minP, repetitionPenalty, think, parallelToolCalls);
    }

    @Override
    public String toString() {
        return "RoselleChatRequestParameters{" + super.toString() + ", seed=" + seed + ", minP=" + minP
                + ", repetitionPenalty=" + repetitionPenalty + ", think=" + think + ", parallelToolCalls="
                + parallelToolCalls + '}';
    }

    /** Collects parameters; what is null is left to the model. */
    public static final class Builder extends DefaultChatRequestParameters.Builder<Builder> {
        private @Nullable Long seed;
        private @Nullable Double minP;
        private @Nullable Double repetitionPenalty;
        private @Nullable Boolean think;
        private @Nullable Boolean parallelToolCalls;

        private Builder() {}

        /** Takes what others say, parameter by parameter; those of another integration have parameters that we do not know. */
        @Override
        public Builder overrideWith(ChatRequestParameters others) {
            super.overrideWith(others);
            if (others instanceof RoselleChatRequestParameters that) {
                seed = that.seed == null ? seed : that.seed;
                minP = that.minP == null ? minP : that.minP;
                repetitionPenalty = that.repetitionPenalty == null ? repetitionPenalty : that.repetitionPenalty;
                think = that.think == null ? think : that.think;
                parallelToolCalls = that.parallelToolCalls == null ? parallelToolCalls : that.parallelToolCalls;
            } else if (others.getClass() != DefaultChatRequestParameters.class) {
                throw new UnsupportedFeatureException(
                        others.getClass().getName()
                                + " may have parameters that Roselle does not support: use RoselleChatRequestParameters, or LangChain4j's own");
            }
            return this;
        }

        public Builder seed(@Nullable Long value) {
            seed = value;
            return this;
        }

        public Builder minP(@Nullable Double value) {
            minP = value;
            return this;
        }

        public Builder repetitionPenalty(@Nullable Double value) {
            repetitionPenalty = value;
            return this;
        }

        public Builder think(@Nullable Boolean value) {
            think = value;
            return this;
        }

        public Builder parallelToolCalls(@Nullable Boolean value) {
            parallelToolCalls = value;
            return this;
        }

        @Override
        public RoselleChatRequestParameters build() {
            return new RoselleChatRequestParameters(this);
        }
    }
}
