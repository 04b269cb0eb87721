package roselle.server.ollama;

import java.util.Optional;
import roselle.server.answer.Models;
import roselle.server.config.Served;
import roselle.server.config.ServedEncoder;
import roselle.server.config.ServedModel;
import roselle.server.created.CreatedModel;
import roselle.server.created.CreatedModels;
import roselle.server.encoder.Kinds;
import roselle.server.http.JsonFields;
import roselle.server.pool.EnginePool;

/** Models by the names that Ollama's clients have for them: what has no tag has the tag {@code latest}. */
final class ModelNames {
    private ModelNames() {}

    /** The name that a model is listed under. */
    static String listed(String name) {
        return CreatedModels.tagged(name);
    }

    /** The one that a body asks for, by the present field or by the older one, with its tag or without. */
    static Served find(JsonFields fields, Models models) {
        return models.any(known(asked(fields), models));
    }

    private static Optional<String> asked(JsonFields fields) {
        Optional<String> name = fields.string("name");
        return fields.string("model").or(() -> name);
    }

    /** The name in a pool of the model that a request asks for, loaded or not. */
    static String pooled(JsonFields fields, Models models, EnginePool pool) {
        return models.pooledName(pool, known(fields.string("model"), models));
    }

    /** Refuses a body that asks for none of the models, loaded or not. */
    static void require(JsonFields fields, Models models) {
        Optional<String> name = known(asked(fields), models);
        name.ifPresentOrElse(models::listed, () -> models.any(name));
    }

    /** The server's name of the model that a body asks for, loaded or not; refuses one that nobody knows. */
    static String known(JsonFields fields, Models models) {
        String asked = asked(fields).orElse("");
        return models.listed(known(Optional.of(asked), models).orElse(asked)).name();
    }

    /** The name that the server has for it, if it has one. */
    private static Optional<String> known(Optional<String> asked, Models models) {
        String name = asked.orElse("");
        Optional<String> made = models.created().find(name).map(CreatedModel::name);
        Optional<String> known = models.names().stream()
                .filter(each -> each.equals(name) || listed(each).equals(name) || each.equals(listed(name)))
                .findFirst();
        return made.or(() -> known).or(() -> asked);
    }

    /** The model of a request that has no older name for it. */
    static ServedModel of(JsonFields fields, Models models) {
        return models.named(known(fields.string("model"), models));
    }

    /** The model of a request whose texts give vectors; without a name the only encoder that does, before models that generate. */
    static Served embedding(JsonFields fields, Models models) {
        Optional<String> name = known(fields.string("model"), models);
        if (name.isEmpty() && !models.encoders().isEmpty()) {
            return Kinds.embedding(models, name);
        }
        return switch (models.any(name)) {
            case ServedModel decoder -> decoder;
            case ServedEncoder encoder -> Kinds.embedding(encoder);
        };
    }
}
