package roselle.server.ollama;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import roselle.api.ChatMessage;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.OutputOptions;
import roselle.api.Prompt;
import roselle.api.ResponseFormat;
import roselle.server.answer.Models;
import roselle.server.config.RequestDefaults;
import roselle.server.config.ServedModel;
import roselle.server.created.OptionFields;
import roselle.server.created.TurnFields;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.prompt.EffortFields;
import roselle.server.prompt.FillTokens;
import roselle.server.prompt.KeepableFormat;
import roselle.server.prompt.LastTurn;
import tools.jackson.databind.JsonNode;

/** Reads the bodies of chats and of completions: each field is honoured, or refused by name. */
final class CallReader {
    private static final int MAX_CONTEXT = 10_000_000;
    private static final Set<String> EFFORTS = Set.of("low", "medium", "high");
    private static final String[] WITHOUT_EFFECT = {
        "system",
        "template",
        "suffix",
        "raw",
        "format",
        "options",
        "think",
        "images",
        "context",
        "tools",
        "truncate",
        "shift",
        "logprobs",
        "top_logprobs",
        "useTools"
    };
    private static final String NEVER_CUT = "what is too long is refused and never cut, so it must be false";

    private final Models models;
    private final BiFunction<ServedModel, Prompt, int[]> tokenizer;

    /**
     * Reads calls of some models.
     *
     * @param tokenizer of texts around what is to be filled in, by the request that has them
     */
    CallReader(Models models, BiFunction<ServedModel, Prompt, int[]> tokenizer) {
        this.models = models;
        this.tokenizer = tokenizer;
    }

    /**
     * What was asked for.
     *
     * @param name what the caller calls the model
     * @param requests the one request, or none, where the model was only to be loaded, which it is
     * @param context tokens that come before the prompt's
     * @param longest tokens of prompt and answer together at most
     * @param isChat whether the answer is a message
     * @param tellsContext whether the answer ends with the tokens of all of it
     * @param keepAlive how long the model stays loaded behind it, if it says so; negative for ever
     */
    record Call(
            String name,
            ServedModel model,
            List<GenerationRequest> requests,
            List<Integer> context,
            int longest,
            boolean streams,
            boolean isChat,
            boolean tellsContext,
            Optional<Duration> keepAlive) {}

    /**
     * Whether nothing is asked for but that a model goes. What clients send beside that, such as options of an answer, has no effect then:
     * there is no answer.
     */
    static boolean unloads(JsonFields fields) {
        boolean hasPrompt = fields.any("prompt")
                .filter(prompt -> !prompt.isString() || !prompt.stringValue().isEmpty())
                .isPresent();
        boolean hasMessages = fields.any("messages")
                .filter(messages -> !messages.isArray() || !messages.isEmpty())
                .isPresent();
        boolean unloads = !hasPrompt
                && !hasMessages
                && KeepAlive.read(fields).filter(Duration::isZero).isPresent();
        if (unloads) {
            fields.accept(WITHOUT_EFFECT);
        }
        return unloads;
    }

    Call chat(JsonFields fields) {
        ServedModel model = ModelNames.of(fields, models);
        GenerationRequestBuilder request = common(fields, model);
        List<ChatMessage> messages = TurnFields.messages(fields);
        List<Map<String, Object>> tools = TurnFields.tools(fields);
        EffortFields effort = think(fields, model, model.defaults().template());
        int longest = OptionFields.context(fields, model);
        Optional<Duration> keepAlive = keepAlive(fields);
        boolean streams = fields.bool("stream", true);
        fields.refuseOthers();
        List<GenerationRequest> requests = new ArrayList<>();
        if (!messages.isEmpty()) {
            var prompt = new Prompt.Chat(messages, tools, LastTurn.variables(messages));
            requests.add(request.prompt(effort.in(model.defaults().in(prompt))).build());
        }
        return new Call(name(fields, model), model, requests, List.of(), longest, streams, true, false, keepAlive);
    }

    Call generate(JsonFields fields) {
        ServedModel model = ModelNames.of(fields, models);
        GenerationRequestBuilder request = common(fields, model);
        String text = fields.string("prompt").orElse("");
        String system = fields.string("system").orElse("");
        boolean isRaw = fields.bool("raw", false);
        List<Integer> context = fields.integers("context", 0, Integer.MAX_VALUE, MAX_CONTEXT);
        String asked = template(fields, model);
        EffortFields effort = think(fields, model, asked);
        int longest = OptionFields.context(fields, model);
        Optional<Duration> keepAlive = keepAlive(fields);
        TurnFields.refuseImages(fields);
        String after = fields.string("suffix").orElse("");
        boolean streams = fields.bool("stream", true);
        fields.refuseOthers();
        if (isRaw && !after.isEmpty()) {
            throw ApiException.invalid(
                    "suffix", "suffix is there, but the prompt is taken as it stands: leave out raw");
        }
        boolean fills = !after.isEmpty();
        boolean hasTemplate = !asked.isEmpty() || model.engine().hasChatTemplate();
        boolean isPlain = isRaw || fills || !hasTemplate;
        requirePlain(isPlain, system, context, fields);
        if (!hasTemplate && !isRaw && !fills && model.defaults().makesTurns()) {
            throw ApiException.invalid(
                    "model",
                    "the model " + model.name() + " begins with a turn, and the model that it is made of has no chat"
                            + " template for it: make it with one, or ask with raw");
        }
        List<GenerationRequest> requests = new ArrayList<>();
        if (fills) {
            requests.add(request.prompt(between(text, after, model, asked))
                    .stopTokenIds(FillTokens.ends(model.engine().tokenizer()))
                    .build());
        } else if (!text.isEmpty()) {
            RequestDefaults defaults =
                    context.isEmpty() ? model.defaults() : model.defaults().goingOn();
            Prompt prompt = isPlain
                    ? new Prompt.Text(text, true, isRaw)
                    : effort.in(defaults.in(new Prompt.Chat(turns(system, text), List.of(), Map.of()).by(asked)));
            requests.add(request.prompt(prompt).build());
        }
        boolean tellsContext = !isRaw && !fills;
        return new Call(
                name(fields, model), model, requests, context, longest, streams, false, tellsContext, keepAlive);
    }

    /** The template of a request, else the model's. */
    private static String template(JsonFields fields, ServedModel model) {
        Optional<String> asked = fields.string("template").filter(text -> !text.isEmpty());
        if (asked.isPresent() && fields.bool("raw", false)) {
            throw ApiException.invalid(
                    "template", "template is there, but the prompt is taken as it stands: leave out raw");
        }
        return asked.orElse(model.defaults().template());
    }

    /** The prompt for what stands between two texts, in the words of a template that has some, else in the model's tokens. */
    private Prompt between(String before, String after, ServedModel model, String asked) {
        if (asked.isEmpty()) {
            var fill = FillTokens.of(model.engine().tokenizer(), "suffix");
            return fill.between(FillTokens.plain(before), after, "", each -> tokenizer.apply(model, each));
        }
        if (!model.engine().chatTemplateMentions(asked, "suffix")) {
            throw ApiException.invalid("suffix", "suffix is there, but the template does not write it: leave it out");
        }
        return new Prompt.Chat(turns("", before), List.of(), Map.of("suffix", after)).by(asked);
    }

    private static List<ChatMessage> turns(String system, String text) {
        ChatMessage asked = ChatMessage.user(text);
        return system.isEmpty() ? List.of(asked) : List.of(ChatMessage.system(system), asked);
    }

    private static void requirePlain(boolean isPlain, String system, List<Integer> context, JsonFields fields) {
        String why = " is there, but the prompt is taken as it stands: put it into the prompt";
        if (isPlain && !system.isEmpty()) {
            throw ApiException.invalid("system", "system" + why);
        }
        if (isPlain && !context.isEmpty()) {
            throw ApiException.invalid("context", "context" + why);
        }
        if (isPlain && fields.has("think")) {
            throw ApiException.invalid("think", "think" + why);
        }
    }

    private static String name(JsonFields fields, ServedModel model) {
        return fields.string("model").orElse(model.name());
    }

    /** The fields that chats and completions have. */
    private static GenerationRequestBuilder common(JsonFields fields, ServedModel model) {
        GenerationRequestBuilder request = OptionFields.read(fields, model);
        boolean logprobs = fields.bool("logprobs", false);
        int top = fields.integer("top_logprobs", 0, 20).orElse(0);
        if (top > 0 && !logprobs) {
            throw ApiException.invalid("top_logprobs", "top_logprobs is " + top + ", but logprobs is not true");
        }
        fields.requireDefault("truncate", NEVER_CUT, false);
        fields.requireDefault("shift", NEVER_CUT, false);
        fields.bool("useTools", false); // ollama4j's note to itself: whether it runs the tools that are called
        return request.output(new OutputOptions(1, logprobs, top, false)).format(format(fields, model));
    }

    private static ResponseFormat format(JsonFields fields, ServedModel model) {
        JsonNode format = fields.any("format").orElse(null);
        if (format == null || (format.isString() && format.stringValue().isEmpty())) {
            return ResponseFormat.TEXT;
        }
        if (format.isString() && format.stringValue().equals("json")) {
            return KeepableFormat.of(model.engine(), "format", ResponseFormat.JsonObject::new);
        }
        if (!format.isObject()) {
            throw JsonFields.wrongType("format", format, "json or a JSON schema");
        }
        return KeepableFormat.of(model.engine(), "format", () -> new ResponseFormat.JsonSchema(format.toString()));
    }

    private static EffortFields think(JsonFields fields, ServedModel model, String template) {
        var effort = new EffortFields(model.engine(), template);
        fields.any("think").ifPresent(asked -> {
            if (asked.isBoolean()) {
                effort.think("think", asked.toString(), asked.booleanValue() ? "medium" : "none");
            } else if (asked.isString() && EFFORTS.contains(asked.stringValue())) {
                effort.think("think", asked.stringValue(), asked.stringValue());
            } else {
                throw JsonFields.wrongType("think", asked, "true, false, low, medium or high");
            }
        });
        return effort;
    }

    private Optional<Duration> keepAlive(JsonFields fields) {
        return KeepAlive.read(fields, models);
    }
}
