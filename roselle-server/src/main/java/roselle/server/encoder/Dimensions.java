package roselle.server.encoder;

import java.util.stream.Collectors;
import roselle.embedding.Matryoshka;
import roselle.server.config.ServedEncoder;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;

/** How many numbers of each vector a request wants: all, or a beginning that the model was trained for. */
public final class Dimensions {
    private Dimensions() {}

    /** The number that a field says; all where it says none. */
    public static int read(JsonFields fields, String name, ServedEncoder encoder) {
        int width = encoder.engine().width();
        int asked = fields.integer(name, 1, Integer.MAX_VALUE).orElse(width);
        Matryoshka matryoshka = encoder.engine().matryoshka();
        if (asked != width && (asked > width || !matryoshka.allows(asked))) {
            throw ApiException.invalid(name, name + " is " + asked + ", but " + reason(width, matryoshka));
        }
        return asked;
    }

    private static String reason(int width, Matryoshka matryoshka) {
        String vectors = "the model's vectors have " + width;
        if (!matryoshka.isTrained()) {
            return vectors + " and cannot be cut: its configuration has no is_matryoshka";
        }
        return matryoshka.dimensions().isEmpty()
                ? vectors
                : vectors + " and can be cut to "
                        + matryoshka.dimensions().stream().map(String::valueOf).collect(Collectors.joining(", "));
    }
}
