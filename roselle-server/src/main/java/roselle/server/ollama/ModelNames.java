package roselle.server.ollama;

import java.util.Optional;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.JsonFields;

/** Models by the names that Ollama's clients have for them: what has no tag has the tag {@code latest}. */
final class ModelNames {
    private static final String LATEST = ":latest";

    private ModelNames() {}

    /** The name that a model is listed under. */
    static String listed(ServedModel model) {
        return isTagged(model.name()) ? model.name() : model.name() + LATEST;
    }

    private static boolean isTagged(String name) {
        return name.indexOf(':', name.lastIndexOf('/') + 1) >= 0;
    }

    /** The one that a body asks for, by the present field or by the older one, with its tag or without. */
    static ServedModel find(JsonFields fields, Models models) {
        return find(asked(fields), models);
    }

    private static Optional<String> asked(JsonFields fields) {
        Optional<String> name = fields.string("name");
        return fields.string("model").or(() -> name);
    }

    private static ServedModel find(Optional<String> asked, Models models) {
        String name = asked.orElse("");
        Optional<String> known = models.all().stream()
                .filter(model -> model.name().equals(name)
                        || listed(model).equals(name)
                        || model.name().equals(name + LATEST))
                .map(ServedModel::name)
                .findFirst();
        return models.named(known.or(() -> asked));
    }

    /** The model of a request that has no older name for it. */
    static ServedModel of(JsonFields fields, Models models) {
        return find(fields.string("model"), models);
    }
}
