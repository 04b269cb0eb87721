package roselle.server.kserve;

import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;
import java.util.Set;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.Json;
import roselle.server.http.JsonFields;
import roselle.server.openai.common.FormatFields;
import roselle.server.openai.common.GenerationFields;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Reads sampling parameters by vLLM's names: members of a request's parameters, or a text of their own. */
final class SamplingReader {
    /** As vLLM has it. */
    private static final int TOKENS_UNASKED = 16;

    private static final int LONGEST = 1 << 17;

    private static final String FORMAT = "structured_outputs";

    /** Those that its clients may write as texts, because Triton's parameters were texts alone. */
    private static final Set<String> NUMBERS = Set.of(
            "n",
            "max_tokens",
            "min_tokens",
            "temperature",
            "top_p",
            "top_k",
            "min_p",
            "seed",
            "logprobs",
            "presence_penalty",
            "frequency_penalty",
            "repetition_penalty");

    private SamplingReader() {}

    /** What is asked for, and whether the log-probabilities of the answer's tokens are. */
    record Sampling(GenerationRequest request, boolean tellsLogprobs) {}

    static Sampling read(JsonFields fields, ServedModel model, Inputs inputs, Set<Output> outputs) {
        JsonFields own = inputs.text(Input.SAMPLING_PARAMETERS)
                .map(text -> ofText(text, Input.SAMPLING_PARAMETERS.wireName()))
                .orElse(fields);
        int most = own.integer("max_tokens", 1, Integer.MAX_VALUE)
                .orElse(GenerationFields.maxTokens(model, TOKENS_UNASKED));
        OptionalInt logprobs = own.integer("logprobs", 0, 20);
        var common = new GenerationFields(own, model);
        boolean scores = logprobs.isPresent() || outputs.contains(Output.CUMULATIVE_LOGPROB);
        var output = common.output(scores, logprobs.orElse(0), false);
        requireRoom(own, output.choices(), model);
        var request = new GenerationRequest(
                model.defaults().before(new Prompt.Text(inputs.prompt(), true, true)),
                common.sampling(),
                common.stop(OptionalInt.of(most)),
                output,
                common.scheduling(),
                FormatFields.read(own, model.engine()));
        settle(own);
        own.refuseOthers();
        fields.refuseOthers(); // of what both say nothing would be left
        return new Sampling(request, logprobs.isPresent());
    }

    private static void requireRoom(JsonFields fields, int answers, ServedModel model) {
        int most = model.engine().maxAnswers();
        if (answers > most) {
            throw ApiException.invalid(
                    fields.path("n"),
                    fields.path("n") + " is " + answers + ": this server has room for " + most + " answers");
        }
    }

    private static void settle(JsonFields fields) {
        fields.requireDefault("skip_special_tokens", "special tokens are never part of the text", true);
        fields.requireDefault("include_stop_str_in_output", "a stop string is never part of the text", false);
        fields.requireDefault("lora_name", "an adapter is asked for as a model, by its name");
    }

    /** A text that is JSON, in which numbers may be texts. */
    private static JsonFields ofText(String text, String path) {
        ObjectNode object = object(text, path);
        for (String name : NUMBERS) {
            JsonNode value = object.path(name);
            if (value.isString()) {
                object.set(name, number(value.stringValue(), path + "." + name));
            }
        }
        return Json.fields(path, (ObjectNode) withFormat(object, path));
    }

    private static JsonNode number(String text, String path) {
        JsonNode number = value(text, path, "a number");
        if (!number.isNumber()) {
            throw ApiException.invalid(path, path + " is not the text of a number");
        }
        return number;
    }

    /** Parameters whose format may be a text that is JSON, as Triton's, which have no objects. */
    static JsonNode withFormat(JsonNode parameters, String path) {
        if (!(parameters instanceof ObjectNode object) || !object.path(FORMAT).isString()) {
            return parameters;
        }
        ObjectNode changed = object.objectNode();
        changed.setAll(object);
        changed.set(FORMAT, object(object.path(FORMAT).stringValue(), path + "." + FORMAT));
        return changed;
    }

    private static ObjectNode object(String text, String path) {
        if (value(text, path, "a JSON object") instanceof ObjectNode object) {
            return object;
        }
        throw ApiException.invalid(path, path + " is not the text of a JSON object");
    }

    private static JsonNode value(String text, String path, String wanted) {
        int characters = text.codePointCount(0, text.length());
        if (characters > LONGEST) { // what it becomes is not counted among the room for bodies
            throw ApiException.invalid(
                    path, path + " has " + characters + " characters: a text within the body has at most " + LONGEST);
        }
        try {
            return Json.value(text.getBytes(StandardCharsets.UTF_8));
        } catch (ApiException none) {
            throw ApiException.invalid(path, path + " is not the text of " + wanted + ": " + none.getMessage());
        }
    }
}
