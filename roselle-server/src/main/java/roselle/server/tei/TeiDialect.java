package roselle.server.tei;

import java.util.Optional;
import roselle.server.answer.Answers;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Dialect;
import roselle.server.http.ErrorKind;
import roselle.server.http.Handler;
import roselle.server.http.Routes;

/** The paths of Text Embeddings Inference; ranks are where other APIs have them, too. */
public final class TeiDialect implements Dialect {
    private final EmbedHandler embed;
    private final EmbedSparseHandler sparse;
    private final PredictHandler predict;

    public TeiDialect(Answers answers) {
        embed = new EmbedHandler(answers);
        sparse = new EmbedSparseHandler(answers);
        predict = new PredictHandler(answers);
    }

    @Override
    public void register(Routes routes) {
        routes.post("/embed", embed)
                .post("/predict", predict)
                .post("/embed_sparse", sparse)
                .post("/embed_all", refusing("embed_all", "a text has one vector; /embed has it"))
                .post("/similarity", refusing("similarity", "/embed has the vectors, whose products it would be"));
    }

    private static Handler refusing(String what, String why) {
        return _ -> {
            throw new ApiException(ErrorKind.NOT_SUPPORTED, what + " is not supported: " + why);
        };
    }

    @Override
    public String name() {
        return "tei";
    }

    @Override
    public Optional<Conventions> conventions() {
        return Optional.of(TeiConventions.INSTANCE);
    }
}
