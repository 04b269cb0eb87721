package roselle.server.kserve;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import roselle.server.http.JsonWriter;

/** The elements of an output tensor, as JSON or as bytes. */
sealed interface TensorData {
    /** {@code BYTES}: each element behind its length. */
    record Texts(List<String> values) implements TensorData {}

    /** {@code FP32}. */
    record Floats(List<Float> values) implements TensorData {}

    /** {@code UINT32}. */
    record Integers(List<Integer> values) implements TensorData {}

    List<?> values();

    /** Writes the elements, one after the other. */
    default JsonWriter write(JsonWriter json) {
        switch (this) {
            case Texts texts -> texts.values().forEach(json::value);
            case Floats floats -> floats.values().forEach(json::value);
            case Integers integers -> integers.values().forEach(json::value);
        }
        return json;
    }

    /** The elements in the order of bytes that the binary extension has. */
    default byte[] bytes() {
        var bytes = new ByteArrayOutputStream();
        switch (this) {
            case Texts texts ->
                texts.values().forEach(text -> {
                    byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
                    bytes.writeBytes(four(encoded.length));
                    bytes.writeBytes(encoded);
                });
            case Floats floats ->
                floats.values().forEach(number -> bytes.writeBytes(four(Float.floatToRawIntBits(number))));
            case Integers integers -> integers.values().forEach(number -> bytes.writeBytes(four(number)));
        }
        return bytes.toByteArray();
    }

    private static byte[] four(int value) {
        return ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(value)
                .array();
    }
}
