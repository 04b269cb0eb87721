package roselle.server.created;

import java.util.List;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.SamplingParameters;
import roselle.api.StopConditions;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.prompt.PenaltyWindow;
import roselle.server.prompt.StopStrings;

/**
 * Reads {@code options}. What is left open is as whoever made the model says, else as its makers advise, else as Ollama has it. Options of loading were settled
 * when the server started: they are accepted where they say so, and refused otherwise.
 */
public final class OptionFields {
    private static final SamplingParameters USUAL = GenerationRequest.builder()
            .text("")
            .temperature(0.8)
            .topK(40)
            .topP(0.9)
            .build()
            .sampling();

    private static final String AT_START = "this was settled when the server started";
    private static final String NO_MIROSTAT = "there is no mirostat here";

    private final JsonFields fields;
    private final ServedModel model;

    private OptionFields(JsonFields fields, ServedModel model) {
        this.fields = fields;
        this.model = model;
    }

    /** A request that draws tokens and ends as the options of a body say. */
    public static GenerationRequestBuilder read(JsonFields body, ServedModel model) {
        GenerationRequestBuilder request = GenerationRequest.builder()
                .sampling(model.sampling(USUAL))
                .stopStrings(model.defaults().stops())
                .maxTokens(model.defaults().maxTokens().orElse(StopConditions.REST_OF_CONTEXT));
        body.object("options").ifPresent(given -> new OptionFields(given, model).read(request));
        return request;
    }

    /** How tokens are drawn by the options of a body over what holds otherwise. */
    static SamplingParameters over(SamplingParameters advice, JsonFields body, ServedModel model) {
        GenerationRequestBuilder request = GenerationRequest.builder().text("").sampling(advice);
        body.object("options").ifPresent(given -> new OptionFields(given, model).read(request));
        return request.build().sampling();
    }

    /** Tokens that prompt and answer may have together, as the options of a body say, else as the model does. */
    public static int context(JsonFields body, ServedModel model) {
        return body.object("options")
                .map(given ->
                        new OptionFields(given, model).context(model.engine().context()))
                .orElse(model.context());
    }

    private int context(int most) {
        int asked = fields.integer("num_ctx", 1, Integer.MAX_VALUE).orElse(model.context());
        if (asked > most) {
            throw ApiException.invalid(
                    fields.path("num_ctx"),
                    fields.path("num_ctx") + " is " + asked + ": this server has " + most
                            + "; --context says how many");
        }
        return asked;
    }

    private void read(GenerationRequestBuilder request) {
        fields.number("temperature", 0, 100).ifPresent(request::temperature);
        fields.integer("top_k", 0, Integer.MAX_VALUE).ifPresent(request::topK);
        fields.number("top_p", 1e-6, 1).ifPresent(request::topP);
        fields.number("min_p", 0, 1).ifPresent(request::minP);
        fields.number("typical_p", 1e-6, 1).ifPresent(request::typicalP);
        fields.number("repeat_penalty", 0.01, 100).ifPresent(request::repetitionPenalty);
        fields.number("presence_penalty", -2, 2).ifPresent(request::presencePenalty);
        fields.number("frequency_penalty", -2, 2).ifPresent(request::frequencyPenalty);
        PenaltyWindow.read(fields, request);
        fields.longInteger("seed", Long.MIN_VALUE, Long.MAX_VALUE).ifPresent(request::seed);
        fields.integer("num_predict", -2, Integer.MAX_VALUE)
                .ifPresent(most -> request.maxTokens(most > 0 ? most : StopConditions.REST_OF_CONTEXT));
        request.stopStrings(StopStrings.read(fields, "stop", model));
        settle();
        fields.refuseOthers();
    }

    private void settle() {
        context(model.engine().context());
        fields.integer("num_keep", -1, Integer.MAX_VALUE); // of a context that is cut, which none is
        fields.requireDefault("num_batch", AT_START);
        fields.requireDefault("num_gpu", AT_START + ", so it must be -1", -1L);
        fields.requireDefault("main_gpu", AT_START + ", so it must be 0", 0L);
        fields.requireDefault("num_thread", AT_START + ", so it must be 0", 0L);
        fields.requireDefault("use_mmap", AT_START + ", so it must be true", true);
        for (String name :
                List.of("numa", "low_vram", "f16_kv", "logits_all", "vocab_only", "use_mlock", "embedding_only")) {
            fields.requireDefault(name, AT_START + ", so it must be false", false);
        }
        fields.requireDefault("tfs_z", "there is no tail-free sampling here, so it must be 1", 1L, 1.0);
        fields.requireDefault("mirostat", NO_MIROSTAT + ", so it must be 0", 0L);
        fields.requireDefault("mirostat_tau", NO_MIROSTAT);
        fields.requireDefault("mirostat_eta", NO_MIROSTAT);
        fields.requireDefault("penalize_newline", "line breaks count as other tokens, so it must be true", true);
    }
}
