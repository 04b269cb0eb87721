package roselle.server.kserve;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import roselle.server.grpc.ProtoReader;
import roselle.server.http.ApiException;
import roselle.server.http.Json;
import roselle.server.http.JsonFields;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A {@code ModelInferRequest} as the request that says the same over HTTP: fields of JSON, and behind them the bytes of raw tensors.
 *
 * @param model the model's name
 * @param version empty for any
 */
@SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
record GrpcRequest(String model, String version, String id, JsonFields fields, byte[] rest) {
    /** Elements of a repeated field; more than any request needs. */
    private static final int MOST = 256;

    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private static final String PARAMETERS = "parameters";
    private static final String BINARY_SIZE = "binary_data_size";

    static GrpcRequest read(byte[] bytes) {
        var request = new ProtoReader("ModelInferRequest", bytes);
        ObjectNode fields = JSON.objectNode();
        String model = "";
        String version = "";
        String id = "";
        List<byte[]> raw = new ArrayList<>();
        while (request.next()) {
            switch (request.field()) {
                case 1 -> model = request.text();
                case 2 -> version = request.text();
                case 3 -> id = request.text();
                case 4 -> parameter(fields, request);
                case 5 -> add(fields.withArray("inputs"), input(request.message("InferInputTensor")));
                case 6 -> add(fields.withArray("outputs"), output(request.message("InferRequestedOutputTensor")));
                case 7 -> raw.add(request.bytes());
                default -> throw request.unknown();
            }
            require(raw.size() <= MOST, "raw_input_contents has more than " + MOST + " elements");
        }
        if (!id.isEmpty()) {
            fields.put("id", id);
        }
        byte[] rest = raw.isEmpty() ? new byte[0] : joined(raw, fields.withArray("inputs"));
        return new GrpcRequest(model, version, id, Json.fields("", fields), rest);
    }

    private static void add(ArrayNode array, ObjectNode element) {
        require(array.size() < MOST, "a repeated field has more than " + MOST + " elements");
        array.add(element);
    }

    private static void require(boolean holds, String fault) {
        if (!holds) {
            throw ApiException.invalid("", fault);
        }
    }

    /** Notes how long each raw tensor is, as requests over HTTP do. */
    private static byte[] joined(List<byte[]> raw, ArrayNode inputs) {
        require(
                raw.size() == inputs.size(),
                "raw_input_contents has " + raw.size() + " elements, and inputs " + inputs.size()
                        + ": each input must have one");
        var joined = new ByteArrayOutputStream();
        for (int index = 0; index < raw.size(); index++) {
            ObjectNode parameters = inputs.get(index).asObject().withObject(PARAMETERS);
            require(!parameters.has(BINARY_SIZE), BINARY_SIZE + " is told by raw_input_contents: leave it out");
            parameters.put(BINARY_SIZE, raw.get(index).length);
            joined.writeBytes(raw.get(index));
        }
        return joined.toByteArray();
    }

    private static ObjectNode input(ProtoReader tensor) {
        ObjectNode fields = JSON.objectNode();
        while (tensor.next()) {
            switch (tensor.field()) {
                case 1 -> fields.put("name", tensor.text());
                case 2 -> fields.put("datatype", tensor.text());
                case 3 ->
                    tensor.varints(size -> limited(fields.withArray("shape")).add(size));
                case 4 -> parameter(fields, tensor);
                case 5 -> contents(fields.withArray("data"), tensor.message("InferTensorContents"));
                default -> throw tensor.unknown();
            }
        }
        return fields;
    }

    private static ArrayNode limited(ArrayNode array) {
        require(array.size() < MOST, "a tensor has more than " + MOST + " dimensions or elements");
        return array;
    }

    /** No input of a model has another type. */
    private static void contents(ArrayNode data, ProtoReader contents) {
        while (contents.next()) {
            switch (contents.field()) {
                case 1 -> contents.varints(flag -> limited(data).add(flag != 0));
                case 8 -> limited(data).add(contents.text());
                default ->
                    throw ApiException.invalid(
                            "contents", "contents must be bytes_contents or bool_contents: no input has another type");
            }
        }
    }

    private static ObjectNode output(ProtoReader tensor) {
        ObjectNode fields = JSON.objectNode();
        while (tensor.next()) {
            switch (tensor.field()) {
                case 1 -> fields.put("name", tensor.text());
                case 2 -> parameter(fields, tensor);
                default -> throw tensor.unknown();
            }
        }
        return fields;
    }

    /** An entry of a map of parameters. */
    private static void parameter(ObjectNode owner, ProtoReader in) {
        ProtoReader entry = in.message("parameter");
        ObjectNode value = JSON.objectNode();
        String name = "";
        while (entry.next()) {
            switch (entry.field()) {
                case 1 -> name = entry.text();
                case 2 -> choice(value, entry.message("InferParameter"));
                default -> throw entry.unknown();
            }
        }
        ObjectNode parameters = owner.withObject(PARAMETERS);
        require(parameters.size() < MOST, "there are more than " + MOST + " parameters");
        require(!parameters.has(name), "the parameter " + name + " is there twice");
        require(value.has("value"), "the parameter " + name + " has no value");
        parameters.set(name, value.get("value"));
    }

    private static void choice(ObjectNode value, ProtoReader parameter) {
        while (parameter.next()) {
            switch (parameter.field()) {
                case 1 -> value.put("value", parameter.bool());
                case 2 -> value.put("value", parameter.varint());
                case 3 -> value.put("value", parameter.text());
                case 4 -> value.put("value", parameter.float64());
                case 5 -> {
                    long unsigned = parameter.varint();
                    require(unsigned >= 0, "a parameter is greater than " + Long.MAX_VALUE);
                    value.put("value", unsigned);
                }
                default -> throw parameter.unknown();
            }
        }
    }
}
