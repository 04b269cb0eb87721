package roselle.server.openai.encoder;

import roselle.server.answer.Answers;
import roselle.server.http.Routes;

/** The paths of vLLM's server for what classifiers and cross-encoders give. */
public final class ClassifierRoutes {
    private final Answers answers;

    public ClassifierRoutes(Answers answers) {
        this.answers = answers;
    }

    public void register(Routes routes) {
        routes.post("/score", new ScoreHandler(answers))
                .post("/classify", new ClassifyHandler(answers))
                .post("/pooling", new PoolingHandler(answers));
    }
}
