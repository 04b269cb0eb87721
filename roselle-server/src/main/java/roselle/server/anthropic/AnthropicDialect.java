package roselle.server.anthropic;

import java.util.Optional;
import roselle.server.answer.Answers;
import roselle.server.http.Conventions;
import roselle.server.http.Dialect;
import roselle.server.http.Routes;

/** The paths of Anthropic's API; those of models, which other APIs have too, are answered so where its header came. */
public final class AnthropicDialect implements Dialect {
    /** The header that Anthropic's clients send with each request. */
    private static final String VERSION = "anthropic-version";

    private final MessagesHandler messages;
    private final ModelsHandler models;

    public AnthropicDialect(Answers answers) {
        messages = new MessagesHandler(answers);
        models = new ModelsHandler(answers.models());
    }

    @Override
    public void register(Routes routes) {
        routes.speaksBelow("/v1/messages/")
                .post("/v1/messages", messages)
                .post("/v1/messages/count_tokens", messages::count)
                .onlyWith(VERSION)
                .get("/v1/models", models::list)
                .getBelow("/v1/models/", models::one);
    }

    @Override
    public String name() {
        return "anthropic";
    }

    @Override
    public Optional<Conventions> conventions() {
        return Optional.of(AnthropicConventions.INSTANCE);
    }
}
