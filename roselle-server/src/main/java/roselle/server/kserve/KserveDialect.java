package roselle.server.kserve;

import java.util.List;
import java.util.Optional;
import roselle.server.answer.Answers;
import roselle.server.answer.Models;
import roselle.server.answer.Readiness;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Dialect;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;

/** The paths of KServe's open inference protocol, version 2, with Triton's extensions. */
public final class KserveDialect implements Dialect {
    static final String NAME = "kserve";

    /** Of what is implemented here, by Triton's names. */
    private static final List<String> EXTENSIONS = List.of(
            "binary_tensor_data", "generate", "model_configuration", "model_repository", "parameters", "statistics");

    private static final List<String> EXTENSIONS_OF_GRPC =
            List.of("model_configuration", "model_repository", "parameters", "statistics");

    private static final String MODELS = "/v2/models/";
    private static final String REPOSITORY = "/v2/repository/models/";

    private final Answers answers;
    private final Models models;
    private final Readiness.Check liveness;
    private final Readiness readiness;
    private final String version;
    private final Statistics statistics = new Statistics();
    private final ModelRoutes model;
    private final InferHandler inference;

    /** The paths of a server of this version; {@code liveness} complains where it is not well. */
    public KserveDialect(Answers answers, Readiness.Check liveness, Readiness readiness, String version) {
        this.answers = answers;
        models = answers.models();
        this.liveness = liveness;
        this.readiness = readiness;
        this.version = version;
        model = new ModelRoutes(answers);
        inference = new InferHandler(answers, statistics);
    }

    /** The same over gRPC, with the same statistics. */
    public Dialect grpc() {
        return new GrpcDialect(
                answers, statistics, liveness, readiness, GrpcDialect.metadata(version, EXTENSIONS_OF_GRPC));
    }

    @Override
    public void register(Routes routes) {
        routes.speaksBelow("/v2/")
                .get("/v2", this::server)
                .get("/v2/health/live", this::live)
                .get("/v2/health/ready", this::ready)
                .get("/v2/models/stats", exchange -> exchange.sendJson(200, statistics.write(models.listed())))
                .post("/v2/repository/index", model::index)
                .postBelow(REPOSITORY, "/load", model::load)
                .postBelow(REPOSITORY, "/unload", model::unload)
                .getBelow(MODELS, model::metadata)
                .getBelow(MODELS, "/ready", model::ready)
                .getBelow(MODELS, "/config", model::configuration)
                .getBelow(MODELS, "/stats", this::statistics)
                .postBelow(MODELS, "/infer", inference::infer)
                .postBelow(MODELS, "/generate", exchange -> inference.generate(exchange, false))
                .postBelow(MODELS, "/generate_stream", exchange -> inference.generate(exchange, true));
        registerUnsupported(routes);
    }

    private static void registerUnsupported(Routes routes) {
        Handler logging = _ -> refuse("changing or telling what is logged or traced");
        routes.get("/v2/logging", logging).post("/v2/logging", logging);
        routes.get("/v2/trace/setting", logging).post("/v2/trace/setting", logging);
        routes.getBelow(MODELS, "/trace/setting", logging).postBelow(MODELS, "/trace/setting", logging);
        Handler sharing = _ -> refuse("shared memory");
        for (String folder : List.of("/v2/systemsharedmemory/", "/v2/cudasharedmemory/")) {
            routes.getBelow(folder, sharing).postBelow(folder, sharing);
        }
    }

    private static void refuse(String what) {
        throw new ApiException(ErrorKind.NOT_SUPPORTED, what + " is not supported: see the guide for what is");
    }

    private void server(Exchange exchange) {
        var json = new JsonWriter().object().field("name", "roselle").field("version", version);
        json.array("extensions");
        EXTENSIONS.forEach(json::value);
        exchange.sendJson(200, json.endArray().endObject());
    }

    private void live(Exchange exchange) {
        require(liveness.complaint(), ErrorKind.ENGINE_UNAVAILABLE);
        exchange.sendJson(200, new JsonWriter().object().field("live", true).endObject());
    }

    private void ready(Exchange exchange) {
        require(readiness.complaint(), ErrorKind.NOT_READY);
        exchange.sendJson(200, new JsonWriter().object().field("ready", true).endObject());
    }

    private static void require(Optional<String> complaint, ErrorKind otherwise) {
        complaint.ifPresent(why -> {
            throw new ApiException(otherwise, why);
        });
    }

    private void statistics(Exchange exchange) {
        exchange.sendJson(200, statistics.write(List.of(ModelPath.of(exchange).listed(models))));
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Optional<Conventions> conventions() {
        return Optional.of(KserveConventions.INSTANCE);
    }
}
