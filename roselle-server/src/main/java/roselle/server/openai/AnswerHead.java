package roselle.server.openai;

import roselle.server.config.ServedModel;
import roselle.server.http.JsonWriter;

/** What every object of one answer begins with. */
record AnswerHead(String id, long created, ServedModel model) {
    /** Opens the object, whose own fields follow. */
    JsonWriter open(JsonWriter json, String object) {
        return json.object()
                .field("id", id)
                .field("object", object)
                .field("created", created)
                .field("model", model.name())
                .field("system_fingerprint", fingerprint());
    }

    /** The same up to the choices, which chunks of a stream begin with. */
    JsonWriter.Opening opening(String object) {
        return open(new JsonWriter(), object).array("choices").opening();
    }

    /** Changes when the same seed may give another answer: with the model and with the engine. */
    private String fingerprint() {
        return "fp_"
                + Integer.toHexString(model.name().hashCode() * 31
                        + Long.hashCode(model.created().toEpochMilli()));
    }
}
