package roselle.server.openai;

import java.util.Optional;
import roselle.server.answer.Answers;
import roselle.server.config.AdapterOptions;
import roselle.server.http.Conventions;
import roselle.server.http.Dialect;
import roselle.server.http.Routes;
import roselle.server.openai.common.OpenAiConventions;
import roselle.server.openai.encoder.ClassifierRoutes;

/** The paths of OpenAI's API that this package answers. */
public final class OpenAiDialect implements Dialect {
    private final ChatHandler chat;
    private final CompletionHandler completions;
    private final EmbeddingsHandler embeddings;
    private final ModelsHandler models;
    private final TokenRoutes tokens;
    private final RenderRoutes rendered;
    private final AdapterRoutes adapters;
    private final ServerRoutes server;
    private final ClassifierRoutes classifiers;

    public OpenAiDialect(Answers answers, AdapterOptions adapterOptions) {
        chat = new ChatHandler(answers);
        completions = new CompletionHandler(answers);
        embeddings = new EmbeddingsHandler(answers);
        models = new ModelsHandler(answers.models());
        tokens = new TokenRoutes(answers);
        rendered = new RenderRoutes(answers);
        adapters = new AdapterRoutes(answers, adapterOptions);
        server = new ServerRoutes(answers.models());
        classifiers = new ClassifierRoutes(answers);
    }

    @Override
    public void register(Routes routes) {
        routes.post("/v1/chat/completions", chat)
                .post("/v1/completions", completions)
                .post("/v1/embeddings", embeddings)
                .get("/v1/models", models::list)
                .getBelow("/v1/models/", models::one);
        tokens.register(routes);
        rendered.register(routes);
        adapters.register(routes);
        server.register(routes);
        classifiers.register(routes);
    }

    @Override
    public String name() {
        return "openai";
    }

    @Override
    public Optional<Conventions> conventions() {
        return Optional.of(OpenAiConventions.COMPLETIONS);
    }
}
