package roselle.server.tgi;

import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.OutputOptions;
import roselle.api.Prompt;
import roselle.api.ResponseFormat;
import roselle.api.SamplingParameters;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.Json;
import roselle.server.http.JsonFields;
import roselle.server.prompt.KeepableFormat;
import roselle.server.prompt.StopStrings;
import tools.jackson.databind.JsonNode;

/** Reads the body of a continuation: each field is honoured, or refused by name. */
final class GenerateReader {
    static final int MOST_ANSWERS = 128;
    static final int MOST_STOPS = 64;

    /** As Text Generation Inference has it. */
    private static final int TOKENS_UNASKED = 100;

    private static final double LEAST = 1e-6;

    private final Models models;

    GenerateReader(Models models) {
        this.models = models;
    }

    /** How a path answers. */
    enum Form {
        WHOLE,
        STREAM,
        /** As {@code stream} says; what is whole is then in a list. */
        EITHER
    }

    GenerateCall read(JsonFields fields, Form form) {
        ServedModel model = models.named(fields.string("model"));
        String text = inputs(fields);
        boolean streams = streams(fields, form);
        boolean hasParameters = fields.has("parameters");
        JsonFields parameters = fields.object("parameters").orElseGet(GenerateReader::none);
        var request = GenerationRequest.builder().prompt(model.defaults().before(new Prompt.Text(text, true, true)));
        UnaryOperator<SamplingParameters> made = model.defaults().sampling();
        boolean draws = sampling(parameters, request, !hasParameters, made);
        OptionalLong asked = parameters.longInteger("seed", 0, Long.MAX_VALUE);
        OptionalLong seed = asked.isPresent()
                ? asked
                : made.apply(SamplingParameters.GREEDY).seed();
        seed.ifPresent(request::seed);
        request.maxTokens(parameters
                .integer("max_new_tokens", 1, Integer.MAX_VALUE)
                .orElse(model.defaults().maxTokens().orElse(TOKENS_UNASKED)));
        request.stopStrings(StopStrings.read(parameters, "stop", model));
        parameters.object("grammar").ifPresent(grammar -> request.format(format(grammar, model)));
        int answers = answers(parameters, streams, draws && seed.isEmpty(), model);
        boolean tellsPrompt = tellsPrompt(parameters, streams);
        boolean hasDetails = parameters.bool("details", false) || tellsPrompt;
        int top = parameters.integer("top_n_tokens", 0, 20).orElse(0);
        request.output(new OutputOptions(answers, true, top, tellsPrompt));
        OptionalInt kept = parameters.integer("truncate", 1, Integer.MAX_VALUE);
        String lead = parameters.bool("return_full_text", false) ? text : "";
        parameters.requireDefault("watermark", "this server marks no text", false);
        parameters.requireDefault("adapter_id", "an adapter is asked for as a model, by its name");
        parameters.refuseOthers();
        fields.refuseOthers();
        boolean isList = form == Form.EITHER && !streams;
        var shape = new GenerateCall.Shape(lead, isList, hasDetails, top, seed);
        return new GenerateCall(model, request.build(), streams, kept, shape);
    }

    private static JsonFields none() {
        return Json.object("{}".getBytes(StandardCharsets.UTF_8));
    }

    private static String inputs(JsonFields fields) {
        String text = fields.requiredString("inputs");
        if (text.isEmpty()) {
            throw ApiException.invalid("inputs", "inputs is empty: there must be a text to continue");
        }
        return text;
    }

    /** Whether the answer is a stream. */
    static boolean streams(JsonFields fields, Form form) {
        return switch (form) {
            case WHOLE -> {
                fields.requireDefault("stream", "/generate_stream answers with a stream, or / does", false);
                yield false;
            }
            case STREAM -> {
                fields.requireDefault("stream", "/generate answers with the whole, or / does", true);
                yield true;
            }
            case EITHER -> fields.bool("stream", false);
        };
    }

    /**
     * How tokens are chosen; true if they are drawn, which any of the fields that say how asks for, too.
     *
     * @param made what whoever made the model says, over what holds otherwise
     */
    private static boolean sampling(
            JsonFields fields,
            GenerationRequestBuilder request,
            boolean otherwise,
            UnaryOperator<SamplingParameters> made) {
        boolean saysHow =
                Stream.of("temperature", "top_k", "top_p", "typical_p").anyMatch(fields::has);
        boolean asks = fields.bool("do_sample", otherwise) || saysHow;
        SamplingParameters usual = made.apply(asks ? SamplingParameters.DEFAULT : SamplingParameters.GREEDY);
        boolean isOpen = !saysHow && !fields.has("do_sample");
        boolean draws = isOpen ? !usual.isGreedy() : asks;
        request.sampling(usual);
        request.temperature(fields.number("temperature", LEAST, 100)
                .orElse(!draws ? 0 : usual.isGreedy() ? 1 : usual.temperature()));
        fields.integer("top_k", 1, Integer.MAX_VALUE).ifPresent(request::topK);
        fields.number("top_p", LEAST, 1).ifPresent(request::topP);
        fields.number("typical_p", LEAST, 1).ifPresent(request::typicalP);
        fields.number("repetition_penalty", 0.01, 100).ifPresent(request::repetitionPenalty);
        fields.number("frequency_penalty", -2, 2).ifPresent(request::frequencyPenalty);
        return draws;
    }

    private static int answers(JsonFields fields, boolean streams, boolean differ, ServedModel model) {
        int answers = fields.integer("best_of", 1, MOST_ANSWERS).orElse(1);
        int most = model.engine().maxAnswers();
        if (answers > 1 && streams) {
            throw ApiException.invalid("best_of", "best_of is " + answers + ": a stream has one answer");
        }
        if (answers > 1 && !differ) {
            throw ApiException.invalid(
                    "best_of",
                    "best_of is " + answers
                            + ": it chooses among answers that differ, so do_sample must be true, and no seed be there");
        }
        if (answers > most) {
            throw ApiException.invalid(
                    "best_of", "best_of is " + answers + ": this server has room for " + most + " answers");
        }
        return answers;
    }

    private static boolean tellsPrompt(JsonFields fields, boolean streams) {
        boolean tells = fields.bool("decoder_input_details", false);
        if (tells && streams) {
            throw ApiException.invalid(
                    "decoder_input_details", "decoder_input_details is true: a stream does not tell of its prompt");
        }
        return tells;
    }

    private static ResponseFormat format(JsonFields grammar, ServedModel model) {
        String type = grammar.requiredString("type");
        ResponseFormat format = switch (type) {
            case "json" -> {
                String schema = schema(grammar);
                yield KeepableFormat.of(
                        model.engine(), grammar.path("value"), () -> new ResponseFormat.JsonSchema(schema));
            }
            case "regex" -> {
                String expression = grammar.requiredString("value");
                yield KeepableFormat.of(
                        model.engine(), grammar.path("value"), () -> new ResponseFormat.Regex(expression));
            }
            default ->
                throw ApiException.invalid(
                        grammar.path("type"), grammar.path("type") + " is not known: it must be json or regex");
        };
        grammar.refuseOthers();
        return format;
    }

    /** A schema, as an object or as its text. */
    private static String schema(JsonFields grammar) {
        JsonNode value = grammar.any("value").orElseThrow(() -> grammar.missing("value"));
        if (value.isString()) {
            return value.stringValue();
        }
        if (!value.isObject()) {
            throw JsonFields.wrongType(grammar.path("value"), value, "a schema: an object, or its text");
        }
        return value.toString();
    }
}
