package roselle.server.ollama;

import java.util.Optional;
import roselle.server.answer.Answers;
import roselle.server.created.CreatedModels;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Dialect;
import roselle.server.http.ErrorKind;
import roselle.server.http.Routes;

/** The paths of Ollama's API. */
public final class OllamaDialect implements Dialect {
    private final AnswerHandler answer;
    private final EmbedHandler embed;
    private final ModelRoutes models;
    private final CreateRoutes creation;
    private final PullRoutes pulling;

    public OllamaDialect(Answers answers) {
        CreatedModels created = answers.models().created();
        var blobs = new BlobStore(answers, created);
        answer = new AnswerHandler(answers);
        embed = new EmbedHandler(answers);
        models = new ModelRoutes(answers, created);
        creation = new CreateRoutes(answers, created, blobs);
        pulling = new PullRoutes(answers, created);
    }

    @Override
    public void register(Routes routes) {
        routes.speaksBelow("/api/")
                .post("/api/generate", answer::generate)
                .post("/api/chat", answer::chat)
                .post("/api/embed", embed::embed)
                .post("/api/embeddings", embed::older);
        models.register(routes);
        creation.register(routes);
        pulling.register(routes);
        routes.post("/api/push", _ -> {
            throw new ApiException(ErrorKind.NOT_SUPPORTED, "push is not supported: models stay on this server");
        });
    }

    @Override
    public String name() {
        return "ollama";
    }

    @Override
    public Optional<Conventions> conventions() {
        return Optional.of(OllamaConventions.INSTANCE);
    }
}
