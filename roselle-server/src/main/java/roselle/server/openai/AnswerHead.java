package roselle.server.openai;

import roselle.server.config.ServedModel;
import roselle.server.http.JsonText;

/** What every object of one answer begins with. */
record AnswerHead(String id, long created, ServedModel model) {
    /** The fields after the opening brace, with a comma at the end. */
    JsonText write(JsonText json, String object) {
        return json.raw("{\"id\":\"")
                .raw(id)
                .raw("\",\"object\":\"")
                .raw(object)
                .raw("\",\"created\":")
                .number(created)
                .raw(",\"model\":")
                .string(model.name())
                .raw(",\"system_fingerprint\":\"")
                .raw(fingerprint())
                .raw("\",");
    }

    /** Changes when the same seed may give another answer: with the model and with the engine. */
    private String fingerprint() {
        return "fp_"
                + Integer.toHexString(model.name().hashCode() * 31
                        + Long.hashCode(model.created().toEpochMilli()));
    }
}
