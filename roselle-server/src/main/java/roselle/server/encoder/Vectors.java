package roselle.server.encoder;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;

/** Vectors in the forms that APIs share. */
public final class Vectors {
    private Vectors() {}

    /** A vector of length 1 in the same direction; one of zeros stays. */
    public static float[] normalized(float[] vector) {
        double squares = 0;
        for (float number : vector) {
            squares += (double) number * number;
        }
        if (squares == 0) {
            return vector;
        }
        double scale = 1 / Math.sqrt(squares);
        var normalized = new float[vector.length];
        for (int index = 0; index < vector.length; index++) {
            normalized[index] = (float) (vector[index] * scale);
        }
        return normalized;
    }

    /** Whether a request wants vectors {@linkplain #packed packed}, by its {@code encoding_format}. */
    public static boolean arePacked(JsonFields fields) {
        String format = fields.string("encoding_format").orElse("float");
        return switch (format) {
            case "float" -> false;
            case "base64" -> true;
            default ->
                throw ApiException.invalid(
                        "encoding_format", "encoding_format is not known: it must be float or base64");
        };
    }

    /** The array of its numbers. */
    public static void write(JsonWriter json, float[] vector) {
        json.array();
        for (float number : vector) {
            json.value(number);
        }
        json.endArray();
    }

    /** Little-endian float32 in base64, as clients read it. */
    public static String packed(float[] vector) {
        var bytes = ByteBuffer.allocate(Float.BYTES * vector.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(vector);
        return Base64.getEncoder().encodeToString(bytes.array());
    }
}
