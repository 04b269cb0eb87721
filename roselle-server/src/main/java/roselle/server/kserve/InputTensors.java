package roselle.server.kserve;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import tools.jackson.databind.JsonNode;

/** Reads input tensors of one element: from the JSON, or from the bytes that follow it in the order of the inputs. */
final class InputTensors {
    private static final int MOST_TENSORS = 64;
    private static final int MOST_DIMENSIONS = 8;

    private final ByteBuffer rest;
    private final Inputs inputs = new Inputs();

    private InputTensors(byte[] rest) {
        this.rest = ByteBuffer.wrap(rest).order(ByteOrder.LITTLE_ENDIAN);
    }

    static Inputs read(JsonFields fields, byte[] rest) {
        if (!fields.has("inputs")) {
            throw fields.missing("inputs");
        }
        var tensors = new InputTensors(rest);
        fields.objects("inputs", MOST_TENSORS).forEach(tensors::read);
        if (tensors.rest.hasRemaining()) {
            throw ApiException.invalid(
                    "inputs", tensors.rest.remaining() + " bytes behind the JSON belong to no input: send none");
        }
        return tensors.inputs;
    }

    private void read(JsonFields tensor) {
        String name = tensor.requiredString("name");
        Input input = Input.named(name)
                .orElseThrow(() -> ApiException.invalid(
                        tensor.path("name"), tensor.path("name") + " is no input of the model: see its metadata"));
        requireOneElement(tensor);
        requireDatatype(tensor, input);
        OptionalInt size =
                tensor.object("parameters").map(InputTensors::binarySize).orElse(OptionalInt.empty());
        if (size.isPresent()) {
            tensor.requireDefault("data", "the element is among the bytes behind the JSON");
            put(input, bytes(tensor, size.getAsInt()), tensor);
        } else {
            put(input, tensor);
        }
        tensor.refuseOthers();
    }

    private static void requireOneElement(JsonFields tensor) {
        if (!tensor.has("shape")) {
            throw tensor.missing("shape");
        }
        var shape = tensor.integers("shape", 1, 1, MOST_DIMENSIONS);
        if (shape.isEmpty()) {
            throw ApiException.invalid(tensor.path("shape"), tensor.path("shape") + " is empty: it must be [1]");
        }
    }

    private static void requireDatatype(JsonFields tensor, Input input) {
        if (!tensor.requiredString("datatype").equals(input.datatype().name())) {
            throw ApiException.invalid(
                    tensor.path("datatype"), tensor.path("datatype") + " must be " + input.datatype());
        }
    }

    private static OptionalInt binarySize(JsonFields parameters) {
        SharedMemory.refuse(parameters);
        OptionalInt size = parameters.integer("binary_data_size", 0, Integer.MAX_VALUE);
        parameters.refuseOthers();
        return size;
    }

    // ---- as JSON ----

    private void put(Input input, JsonFields tensor) {
        JsonNode data = tensor.any("data").orElseThrow(() -> tensor.missing("data"));
        String path = tensor.path("data");
        JsonNode element = element(element(data, path), path, data);
        if (input.datatype() == Datatype.BYTES && element.isString()) {
            inputs.put(input, element.stringValue());
        } else if (input.datatype() == Datatype.BOOL && element.isBoolean()) {
            inputs.put(input, element.booleanValue());
        } else {
            throw JsonFields.wrongType(
                    path, data, "an array of one " + (input.datatype() == Datatype.BOOL ? "boolean" : "string"));
        }
    }

    private static JsonNode element(JsonNode array, String path) {
        if (!array.isArray() || array.size() != 1) {
            throw JsonFields.wrongType(path, array, "an array of one element");
        }
        return array.path(0);
    }

    /** Elements may be flat, or in arrays as the shape has them. */
    private static JsonNode element(JsonNode inner, String path, JsonNode data) {
        return inner.isArray() ? element(inner, path) : data.path(0);
    }

    // ---- as bytes ----

    private ByteBuffer bytes(JsonFields tensor, int size) {
        if (size > rest.remaining()) {
            throw ApiException.invalid(
                    tensor.path("parameters"),
                    tensor.path("parameters.binary_data_size") + " is " + size + ", but " + rest.remaining()
                            + " bytes are left behind the JSON: Inference-Header-Content-Length says where it ends");
        }
        ByteBuffer own = rest.slice(rest.position(), size).order(ByteOrder.LITTLE_ENDIAN);
        rest.position(rest.position() + size);
        return own;
    }

    private void put(Input input, ByteBuffer element, JsonFields tensor) {
        if (input.datatype() == Datatype.BOOL) {
            require(element.remaining() == 1, tensor, "a boolean is one byte");
            inputs.put(input, element.get() != 0);
            return;
        }
        require(
                element.remaining() >= Integer.BYTES && element.getInt() == element.remaining(),
                tensor,
                "a text is its length in four bytes, the least first, and so many bytes");
        inputs.put(input, text(element, tensor));
    }

    private static String text(ByteBuffer element, JsonFields tensor) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(element).toString();
        } catch (CharacterCodingException _) {
            throw ApiException.invalid(tensor.path(), "the bytes of " + tensor.path() + " are no text in UTF-8");
        }
    }

    private static void require(boolean holds, JsonFields tensor, String rule) {
        if (!holds) {
            throw ApiException.invalid(
                    tensor.path(), "the bytes of " + tensor.path() + " are not one element: " + rule);
        }
    }
}
