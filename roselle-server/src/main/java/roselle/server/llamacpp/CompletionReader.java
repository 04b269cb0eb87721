package roselle.server.llamacpp;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.OutputOptions;
import roselle.api.Prompt;
import roselle.api.ResponseFormat;
import roselle.api.SamplingParameters;
import roselle.api.SchedulingOptions;
import roselle.api.StopConditions;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.http.RequestIds;
import roselle.server.prompt.KeepableFormat;
import roselle.server.prompt.PenaltyWindow;
import roselle.server.prompt.StopStrings;
import tools.jackson.databind.JsonNode;

/** Reads the body of a completion: each field is honoured, or refused by name. */
final class CompletionReader {
    private static final int MAX_TOKENS = 10_000_000;
    private static final int MAX_BIASES = 4096;
    private static final double ANY = 1e9;
    private static final String NOT_THERE = "this server does not have it, so it must be ";

    static final SamplingParameters USUAL = GenerationRequest.builder()
            .text("")
            .temperature(0.8)
            .topK(40)
            .topP(0.95)
            .minP(0.05)
            .build()
            .sampling();

    private final Models models;

    CompletionReader(Models models) {
        this.models = models;
    }

    /**
     * A completion that was asked for.
     *
     * @param tellsTokens whether the answer has its token ids
     * @param hasProbabilities whether it has those of its tokens
     */
    record Call(
            ServedModel model,
            GenerationRequest request,
            boolean streams,
            boolean tellsTokens,
            boolean hasProbabilities) {}

    /** Where the prompt of a path comes from. */
    @FunctionalInterface
    interface Source {
        void read(JsonFields fields, ServedModel model, GenerationRequestBuilder request);
    }

    /** Reads a text or token ids that are to be continued. */
    static void continued(JsonFields fields, ServedModel model, GenerationRequestBuilder request) {
        request.prompt(model.defaults().before(prompt(fields)));
    }

    Call read(JsonFields fields, Source source) {
        ServedModel model = models.named(fields.string("model"));
        GenerationRequestBuilder request = GenerationRequest.builder().sampling(model.sampling(USUAL));
        source.read(fields, model, request);
        sampling(fields, request);
        PenaltyWindow.read(fields, request);
        request.stopStrings(StopStrings.read(fields, "stop", model)).ignoreEos(fields.bool("ignore_eos", false));
        request.maxTokens(maxTokens(fields, model));
        request.format(format(fields, model));
        int top = fields.integer("n_probs", 0, 20).orElse(0);
        request.output(new OutputOptions(1, top > 0, top, false));
        if (!fields.bool("cache_prompt", true)) { // a salt that nobody else has
            request.scheduling(new SchedulingOptions(0, "", RequestIds.next("salt_"), Duration.ZERO));
        }
        boolean streams = fields.bool("stream", false);
        boolean tellsTokens = fields.bool("return_tokens", false);
        settle(fields);
        fields.refuseOthers();
        return new Call(model, request.build(), streams, tellsTokens, top > 0);
    }

    private static Prompt prompt(JsonFields fields) {
        JsonNode given = fields.any("prompt").orElseThrow(() -> fields.missing("prompt"));
        if (given.isString()) {
            return new Prompt.Text(given.stringValue(), true, true);
        }
        if (given.isArray()) {
            return new Prompt.Tokens(JsonFields.integers(given, "prompt", 0, Integer.MAX_VALUE, MAX_TOKENS));
        }
        throw JsonFields.wrongType("prompt", given, "a string or an array of token ids");
    }

    private static void sampling(JsonFields fields, GenerationRequestBuilder request) {
        fields.number("temperature", 0, 100).ifPresent(request::temperature);
        fields.integer("top_k", -1, Integer.MAX_VALUE).ifPresent(most -> request.topK(Math.max(0, most)));
        fields.number("top_p", 1e-6, 1).ifPresent(request::topP);
        fields.number("min_p", 0, 1).ifPresent(request::minP);
        fields.number("typical_p", 1e-6, 1).ifPresent(request::typicalP);
        fields.number("repeat_penalty", 0.01, 100).ifPresent(request::repetitionPenalty);
        fields.number("presence_penalty", -2, 2).ifPresent(request::presencePenalty);
        fields.number("frequency_penalty", -2, 2).ifPresent(request::frequencyPenalty);
        fields.longInteger("seed", -1, Long.MAX_VALUE).stream()
                .filter(seed -> seed >= 0)
                .forEach(request::seed);
        fields.any("logit_bias").ifPresent(given -> request.logitBias(bias(fields, given)));
    }

    /** Biases by token id: an object, or pairs of an id with a number or with false, which forbids the token. */
    private static Map<Integer, Float> bias(JsonFields fields, JsonNode given) {
        if (given.isObject()) {
            return fields.numbersById("logit_bias", -100, 100, MAX_BIASES);
        }
        if (!given.isArray() || given.size() > MAX_BIASES) {
            throw JsonFields.wrongType("logit_bias", given, "an object, or at most " + MAX_BIASES + " pairs");
        }
        Map<Integer, Float> biases = new HashMap<>();
        for (JsonNode pair : given) {
            boolean isFalse = pair.path(1).isBoolean() && !pair.path(1).booleanValue();
            double bias = isFalse ? -100 : pair.path(1).asDouble(Double.NaN);
            boolean isPair = pair.isArray()
                    && pair.size() == 2
                    && pair.path(0).isIntegralNumber()
                    && pair.path(0).canConvertToInt()
                    && pair.path(0).intValue() >= 0
                    && (isFalse || pair.path(1).isNumber())
                    && Math.abs(bias) <= 100;
            if (!isPair) {
                throw JsonFields.wrongType(
                        "logit_bias", pair, "a pair of a token id and false, or a number between -100 and 100");
            }
            biases.put(pair.path(0).intValue(), (float) bias);
        }
        return biases;
    }

    private static int maxTokens(JsonFields fields, ServedModel model) {
        int usual = model.defaults().maxTokens().orElse(-1);
        int most = fields.integer("n_predict", -2, Integer.MAX_VALUE).orElse(usual);
        if (most == 0) {
            throw ApiException.invalid("n_predict", "n_predict is 0: it must be -1, or at least 1");
        }
        return most < 0 ? StopConditions.REST_OF_CONTEXT : most;
    }

    private static ResponseFormat format(JsonFields fields, ServedModel model) {
        Optional<String> grammar = fields.string("grammar").filter(text -> !text.isEmpty());
        Optional<JsonFields> schema = fields.object("json_schema");
        if (grammar.isPresent() && schema.isPresent()) {
            throw ApiException.invalid("grammar", "grammar and json_schema both say what the answer must look like");
        }
        if (grammar.isPresent()) {
            return KeepableFormat.of(model.engine(), "grammar", () -> new ResponseFormat.Grammar(grammar.get()));
        }
        return schema.map(JsonFields::json)
                .map(text ->
                        KeepableFormat.of(model.engine(), "json_schema", () -> new ResponseFormat.JsonSchema(text)))
                .orElse(ResponseFormat.TEXT);
    }

    /** Samplers that are not there, which clients send as switched off together with what would belong to them. */
    private static void settle(JsonFields fields) {
        for (String off :
                List.of("dynatemp_range", "xtc_probability", "dry_multiplier", "mirostat", "n_indent", "min_keep")) {
            fields.requireDefault(off, NOT_THERE + 0, 0L, 0.0);
        }
        for (String part : List.of(
                "dynatemp_exponent",
                "xtc_threshold",
                "dry_base",
                "dry_allowed_length",
                "dry_penalty_last_n",
                "mirostat_tau",
                "mirostat_eta",
                "n_keep")) { // of what is switched off, and of contexts that are cut
            fields.number(part, -ANY, ANY);
        }
        fields.strings("dry_sequence_breakers", MAX_BIASES);
        fields.requireDefault("t_max_predict_ms", NOT_THERE + 0, 0L, -1L);
        fields.requireDefault("id_slot", "there are no slots, so it must be -1", -1L);
        fields.requireDefault("n_cmpl", "there is one answer, so it must be 1", 1L);
        fields.requireDefault("samplers", "their order is fixed: leave it out");
        fields.requireDefault("lora", "an adapter is asked for as a model, by its name", List.of());
        fields.requireDefault("response_fields", "answers are whole", List.of());
        for (String flag : List.of("post_sampling_probs", "timings_per_token", "return_progress")) {
            fields.requireDefault(flag, NOT_THERE + false, false);
        }
    }
}
