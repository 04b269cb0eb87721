package roselle.server.tei;

import roselle.server.http.JsonFields;

/** Whether what is too long loses its end. */
final class Truncation {
    private Truncation() {}

    static boolean read(JsonFields fields) {
        fields.requireDefault("truncation_direction", "the end is left out: it must be right", "right", "Right");
        return fields.bool("truncate", false);
    }
}
