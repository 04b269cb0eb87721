package roselle.server.ollama;

import java.util.Optional;
import roselle.server.answer.Answers;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Dialect;
import roselle.server.http.ErrorKind;
import roselle.server.http.Handler;
import roselle.server.http.Routes;

/** The paths of Ollama's API; those that would change which models there are say that this server does not. */
public final class OllamaDialect implements Dialect {
    private static final String FIXED = "the models of this server are those that it was started with";

    private final AnswerHandler answer;
    private final EmbedHandler embed;
    private final ModelRoutes models;

    public OllamaDialect(Answers answers) {
        answer = new AnswerHandler(answers);
        embed = new EmbedHandler(answers);
        models = new ModelRoutes(answers);
    }

    @Override
    public void register(Routes routes) {
        routes.post("/api/generate", answer::generate)
                .post("/api/chat", answer::chat)
                .post("/api/embed", embed::embed)
                .post("/api/embeddings", embed::older);
        models.register(routes);
        routes.post("/api/push", refusing("push", FIXED))
                .post("/api/create", refusing("create", FIXED))
                .post("/api/copy", refusing("copy", FIXED))
                .delete("/api/delete", refusing("delete", FIXED))
                .getBelow("/api/blobs/", refusing("blobs", FIXED))
                .postBelow("/api/blobs/", refusing("blobs", FIXED));
    }

    private static Handler refusing(String what, String why) {
        return _ -> {
            throw new ApiException(ErrorKind.NOT_SUPPORTED, what + " is not supported: " + why);
        };
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
