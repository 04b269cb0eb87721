package roselle.server.openai.common;

import java.time.Duration;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import roselle.api.OutputOptions;
import roselle.api.SamplingParameters;
import roselle.api.SchedulingOptions;
import roselle.api.StopConditions;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.prompt.StopStrings;

/** The fields that all kinds of generation share: how to draw tokens, when to stop, whose turn it is. */
public final class GenerationFields {
    private static final int MAX_IDS = 4096;

    private final JsonFields fields;
    private final ServedModel model;

    public GenerationFields(JsonFields fields, ServedModel model) {
        this.fields = fields;
        this.model = model;
    }

    /** What was asked for over what whoever made the model says. */
    public SamplingParameters sampling() {
        SamplingParameters advice = model.sampling(SamplingParameters.DEFAULT);
        OptionalLong seed = fields.longInteger("seed", Long.MIN_VALUE, Long.MAX_VALUE);
        return new SamplingParameters(
                number("temperature", 0, 100, advice.temperature()),
                topK(advice.topK()),
                number("top_p", 1e-6, 1, advice.topP()),
                number("min_p", 0, 1, advice.minP()),
                number("typical_p", 1e-6, 1, advice.typicalP()),
                number("repetition_penalty", 0.01, 100, advice.repetitionPenalty()),
                number("presence_penalty", -2, 2, advice.presencePenalty()),
                number("frequency_penalty", -2, 2, advice.frequencyPenalty()),
                fields.numbersById("logit_bias", -100, 100, MAX_IDS),
                advice.penaltyWindow(),
                advice.penalizesPrompt(),
                seed.isPresent() ? seed : advice.seed());
    }

    private double number(String name, double least, double most, double otherwise) {
        return fields.number(name, least, most).orElse(otherwise);
    }

    /** vLLM's and SGLang's clients say −1 for all tokens. */
    private int topK(int otherwise) {
        return Math.max(0, fields.integer("top_k", -1, Integer.MAX_VALUE).orElse(otherwise));
    }

    /** The most tokens of an answer where the request does not say: as whoever made the model says, else the API. */
    public static int maxTokens(ServedModel model, int usual) {
        return model.defaults().maxTokens().orElse(usual);
    }

    public StopConditions stop(OptionalInt maxTokens) {
        int most = maxTokens.orElseGet(() -> maxTokens(model, StopConditions.REST_OF_CONTEXT));
        int least = fields.integer("min_tokens", 0, Integer.MAX_VALUE).orElse(0);
        if (least > most) {
            throw ApiException.invalid("min_tokens", "min_tokens is " + least + ", more than max_tokens: " + most);
        }
        return new StopConditions(
                most,
                least,
                StopStrings.read(fields, "stop", model),
                Set.copyOf(fields.integers("stop_token_ids", 0, Integer.MAX_VALUE, MAX_IDS)),
                fields.bool("ignore_eos", false));
    }

    public OutputOptions output(boolean logprobs, int top, boolean promptLogprobs) {
        int choices = fields.integer("n", 1, 128).orElse(1);
        return new OutputOptions(choices, logprobs, top, promptLogprobs);
    }

    /** Of priorities vLLM's lower ones go first, the engine's higher ones. */
    public SchedulingOptions scheduling() {
        String salt = fields.string("cache_salt").orElse("");
        int characters = salt.codePointCount(0, salt.length());
        if (characters > 1024) {
            throw ApiException.invalid("cache_salt", "cache_salt has " + characters + " characters: at most 1024");
        }
        int priority = fields.integer("priority", -1000, 1000).orElse(0);
        return new SchedulingOptions(-priority, "", salt, Duration.ZERO);
    }
}
