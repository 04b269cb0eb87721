package roselle.server.cohere;

import java.util.Optional;
import roselle.server.answer.Answers;
import roselle.server.http.Conventions;
import roselle.server.http.Dialect;
import roselle.server.http.Routes;

/** The paths of Cohere's API that encoders answer; that of ranks is also Jina's, vLLM's and TEI's. */
public final class CohereDialect implements Dialect {
    private final EmbedHandler embed;
    private final RerankHandler rerank;

    public CohereDialect(Answers answers) {
        embed = new EmbedHandler(answers);
        rerank = new RerankHandler(answers);
    }

    @Override
    public void register(Routes routes) {
        routes.post("/v2/embed", embed)
                .post("/rerank", exchange -> rerank.handle(exchange, true))
                .post("/v1/rerank", exchange -> rerank.handle(exchange, true))
                .post("/v2/rerank", exchange -> rerank.handle(exchange, false));
    }

    @Override
    public String name() {
        return "cohere";
    }

    @Override
    public Optional<Conventions> conventions() {
        return Optional.of(CohereConventions.INSTANCE);
    }
}
