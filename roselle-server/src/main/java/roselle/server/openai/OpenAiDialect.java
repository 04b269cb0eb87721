package roselle.server.openai;

import roselle.server.answer.Answers;
import roselle.server.http.Dialect;
import roselle.server.http.Routes;

/** The paths of OpenAI's API that this package answers. */
public final class OpenAiDialect implements Dialect {
    private final ChatHandler chat;
    private final CompletionHandler completions;
    private final EmbeddingsHandler embeddings;
    private final ModelsHandler models;

    public OpenAiDialect(Answers answers) {
        chat = new ChatHandler(answers);
        completions = new CompletionHandler(answers);
        embeddings = new EmbeddingsHandler(answers);
        models = new ModelsHandler(answers.models());
    }

    @Override
    public void register(Routes routes) {
        routes.post("/v1/chat/completions", chat)
                .post("/v1/completions", completions)
                .post("/v1/embeddings", embeddings)
                .get("/v1/models", models::list)
                .getBelow("/v1/models/", models::one);
    }
}
