package roselle.server.kserve;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import roselle.server.answer.Answer;
import roselle.server.answer.Answers;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.EventStream;
import roselle.server.http.Exchange;
import roselle.server.http.Json;
import roselle.server.http.JsonAndBytes;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;

/** Texts continued: as tensors, or in Triton's form of a plain object, whole or as a stream. */
final class InferHandler {
    /** How many bytes of a body, or of an answer, are JSON, where tensors follow it. */
    static final String JSON_BYTES = "inference-header-content-length";

    private static final String PARAMETERS = "parameters";

    private final Answers answers;
    private final Statistics statistics;

    InferHandler(Answers answers, Statistics statistics) {
        this.answers = answers;
        this.statistics = statistics;
    }

    // ---- tensors ----

    void infer(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonAndBytes body = body(exchange);
            ServedModel model = ModelPath.of(exchange).in(admitted.models());
            try (var timed = statistics.begin(model)) {
                JsonFields fields = body.fields();
                fields.requireDefault("model_name", "the path names " + model.name(), model.name());
                Inputs inputs = InputTensors.read(fields, body.rest());
                if (inputs.flag(Input.STREAM, false)) {
                    throw ApiException.invalid("stream", "stream is true: infer answers once, generate_stream streams");
                }
                JsonFields parameters = parameters(fields);
                boolean isBinary = parameters.bool("binary_data_output", false);
                var outputs = RequestedOutputs.read(fields, inputs.asked(), isBinary);
                GenerateCall call = call(model, fields, parameters, inputs, outputs.names());
                Generated generated = whole(admitted, call);
                timed.succeeded(generated.queueNanos());
                send(exchange, call, outputs, generated);
            }
        }
    }

    private static JsonAndBytes body(Exchange exchange) throws IOException {
        Optional<String> length = exchange.requestHeader(JSON_BYTES);
        if (length.isEmpty()) {
            return new JsonAndBytes(exchange.json(), new byte[0]);
        }
        String digits = length.get();
        if (!digits.matches("[0-9]{1,9}")) {
            throw ApiException.invalid("", JSON_BYTES + " must be how many bytes of the body are JSON");
        }
        return exchange.jsonAndBytes(Integer.parseInt(digits));
    }

    private static void send(Exchange exchange, GenerateCall call, RequestedOutputs outputs, Generated generated) {
        var bytes = new ByteArrayOutputStream();
        var json = head(new JsonWriter().object(), call).array("outputs");
        outputs.write(json, generated, bytes);
        json.endArray().endObject();
        if (!outputs.hasBinary()) {
            exchange.sendJson(200, json);
            return;
        }
        byte[] document = json.toBytes();
        exchange.header(JSON_BYTES, Integer.toString(document.length));
        var body = new ByteArrayOutputStream();
        body.writeBytes(document);
        body.writeBytes(bytes.toByteArray());
        exchange.send(200, "application/octet-stream", body.toByteArray());
    }

    // ---- plain objects ----

    void generate(Exchange exchange, boolean isStream) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            admitted.streaming(isStream);
            ServedModel model = ModelPath.of(exchange).in(admitted.models());
            try (var timed = statistics.begin(model)) {
                JsonFields parameters = parameters(fields);
                Inputs inputs = inputs(fields, parameters);
                if (inputs.flag(Input.STREAM, false) && !isStream) {
                    throw ApiException.invalid(
                            "stream", "stream is true: generate answers once, generate_stream streams");
                }
                GenerateCall call = call(model, fields, parameters, inputs, inputs.asked());
                if (isStream) {
                    timed.succeeded(stream(admitted, call, exchange.stream()).queueNanos());
                    return;
                }
                Generated generated = whole(admitted, call);
                timed.succeeded(generated.queueNanos());
                exchange.sendJson(200, event(new JsonWriter(), call, generated));
            }
        }
    }

    /** All inputs but the text may be members of the request or of its parameters. */
    private static Inputs inputs(JsonFields fields, JsonFields parameters) {
        var inputs = new Inputs();
        inputs.put(Input.TEXT_INPUT, fields.requiredString(Input.TEXT_INPUT.wireName()));
        Stream.of(Input.values()).filter(Input::isOptional).forEach(input -> {
            for (JsonFields place : List.of(fields, parameters)) {
                if (place.has(input.wireName()) && input.datatype() == Datatype.BOOL) {
                    inputs.put(input, place.bool(input.wireName(), false));
                } else if (place.has(input.wireName())) {
                    inputs.put(input, place.requiredString(input.wireName()));
                }
            }
        });
        return inputs;
    }

    private static Generated stream(AdmittedRequest admitted, GenerateCall call, EventStream events)
            throws IOException {
        try (Answer answer = admitted.submit(call.model(), call.request())) {
            var generated = new Generated(call, answer.promptTokens());
            while (answer.hasNext()) {
                if (generated.add(answer.next()) && call.form().streams()) {
                    event(events.event(), call, generated);
                    events.send();
                    generated.forgetWhatWasTold();
                }
            }
            if (!call.form().streams()) {
                event(events.event(), call, generated);
            }
            events.finish();
            return generated;
        }
    }

    /** Each output as a member: an element, or an array where there are several answers. */
    private static JsonWriter event(JsonWriter json, GenerateCall call, Generated generated) {
        head(json.object(), call);
        for (Output output : call.outputs()) {
            TensorData data = generated.data(output);
            json.name(output.wireName());
            if (data.values().size() == 1) {
                data.write(json);
            } else {
                data.write(json.array()).endArray();
            }
        }
        return json.endObject();
    }

    // ---- of both ----

    static JsonFields parameters(JsonFields fields) {
        return fields.object(PARAMETERS, value -> SamplingReader.withFormat(value, fields.path(PARAMETERS)))
                .orElseGet(() -> Json.object("{}".getBytes(StandardCharsets.UTF_8)));
    }

    static GenerateCall call(
            ServedModel model, JsonFields fields, JsonFields parameters, Inputs inputs, Set<Output> outputs) {
        String id = fields.string("id").orElse("");
        var sampling = SamplingReader.read(parameters, model, inputs, outputs);
        fields.refuseOthers();
        boolean streams = inputs.flag(Input.STREAM, false);
        String lead = inputs.tellsPrompt(streams) ? inputs.prompt() : "";
        var form = new GenerateCall.Form(streams, lead, sampling.tellsLogprobs());
        return new GenerateCall(model, sampling.request(), id, outputs, form);
    }

    static Generated whole(AdmittedRequest admitted, GenerateCall call) {
        try (Answer answer = admitted.submit(call.model(), call.request())) {
            var generated = new Generated(call, answer.promptTokens());
            while (answer.hasNext()) {
                generated.add(answer.next());
            }
            return generated;
        }
    }

    private static JsonWriter head(JsonWriter json, GenerateCall call) {
        if (!call.id().isEmpty()) {
            json.field("id", call.id());
        }
        return json.field("model_name", call.model().name()).field("model_version", ModelPath.VERSION);
    }
}
