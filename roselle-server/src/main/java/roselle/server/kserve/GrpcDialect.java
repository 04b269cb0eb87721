package roselle.server.kserve;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import roselle.server.answer.Answers;
import roselle.server.answer.ListedModel;
import roselle.server.answer.Models;
import roselle.server.answer.Readiness;
import roselle.server.grpc.GrpcConventions;
import roselle.server.grpc.GrpcMessages;
import roselle.server.grpc.ProtoReader;
import roselle.server.grpc.ProtoWriter;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Dialect;
import roselle.server.http.ErrorKind;
import roselle.server.http.Handler;
import roselle.server.http.Routes;

/** The calls of KServe's open inference protocol as gRPC has them, and Triton's beside them. */
final class GrpcDialect implements Dialect {
    private static final String SERVICE = "/inference.GRPCInferenceService/";

    private final Models models;
    private final Readiness.Check liveness;
    private final Readiness readiness;
    private final ProtoWriter metadata;
    private final GrpcInference inference;
    private final GrpcRepository repository;

    GrpcDialect(
            Answers answers,
            Statistics statistics,
            Readiness.Check liveness,
            Readiness readiness,
            ProtoWriter metadata) {
        models = answers.models();
        this.liveness = liveness;
        this.readiness = readiness;
        this.metadata = metadata;
        inference = new GrpcInference(answers, statistics);
        repository = new GrpcRepository(answers, statistics);
    }

    /** What {@code ServerMetadata} answers. */
    static ProtoWriter metadata(String version, List<String> extensions) {
        var told = new ProtoWriter().text(1, "roselle").text(2, version);
        extensions.forEach(extension -> told.element(3, extension));
        return told;
    }

    @Override
    public void register(Routes routes) {
        routes.post(SERVICE + "ServerLive", told(() -> flag(liveness.complaint().isEmpty())))
                .post(
                        SERVICE + "ServerReady",
                        told(() -> flag(readiness.complaint().isEmpty())))
                .post(SERVICE + "ServerMetadata", told(() -> metadata))
                .post(SERVICE + "ModelReady", ofModel("ModelReadyRequest", this::ready))
                .post(SERVICE + "ModelMetadata", ofModel("ModelMetadataRequest", this::model))
                .post(SERVICE + "ModelInfer", inference::infer)
                .post(SERVICE + "ModelStreamInfer", inference::stream)
                .post(SERVICE + "ModelConfig", ofModel("ModelConfigRequest", repository::configuration))
                .post(SERVICE + "ModelStatistics", ofModel("ModelStatisticsRequest", repository::statistics))
                .post(SERVICE + "RepositoryIndex", repository::index)
                .post(SERVICE + "RepositoryModelLoad", repository::load)
                .post(SERVICE + "RepositoryModelUnload", repository::unload)
                .postBelow(SERVICE, exchange -> {
                    throw new ApiException(
                            ErrorKind.NOT_SUPPORTED, exchange.rest() + " is not supported over gRPC: see the guide");
                });
    }

    private interface Telling {
        ProtoWriter tell();
    }

    private interface ModelTelling {
        ProtoWriter tell(ModelPath model);
    }

    /** A call whose request has no fields. */
    private static Handler told(Telling telling) {
        return exchange -> {
            var messages = new GrpcMessages(exchange);
            var fields = new ProtoReader("request without fields", messages.only());
            if (fields.next()) {
                throw fields.unknown();
            }
            send(messages, telling.tell());
        };
    }

    /** A call whose request names a model, and perhaps a version. */
    private static Handler ofModel(String request, ModelTelling telling) {
        return exchange -> {
            var messages = new GrpcMessages(exchange);
            send(messages, telling.tell(path(new ProtoReader(request, messages.only()))));
        };
    }

    private static ModelPath path(ProtoReader fields) {
        String name = "";
        String version = "";
        while (fields.next()) {
            switch (fields.field()) {
                case 1 -> name = fields.text();
                case 2 -> version = fields.text();
                default -> throw fields.unknown();
            }
        }
        return new ModelPath(name, version);
    }

    private static void send(GrpcMessages messages, ProtoWriter answer) throws IOException {
        messages.send(answer);
        messages.end();
    }

    private static ProtoWriter flag(boolean isSo) {
        return new ProtoWriter().bool(1, isSo);
    }

    /** Of a model that is not there, too, as Triton has it. */
    private ProtoWriter ready(ModelPath path) {
        try {
            return flag(ModelRoutes.isReady(path.listed(models)));
        } catch (ApiException unknown) {
            if (unknown.kind() != ErrorKind.MODEL_NOT_FOUND) {
                throw unknown;
            }
            return flag(false);
        }
    }

    private ProtoWriter model(ModelPath path) {
        ListedModel model = path.listed(models);
        var told = new ProtoWriter()
                .text(1, model.name())
                .element(2, ModelPath.VERSION)
                .text(3, "roselle");
        for (Input input : Input.values()) {
            told.message(4, tensor(input.wireName(), input.datatype(), 1));
        }
        for (Output output : Output.values()) {
            told.message(5, tensor(output.wireName(), output.datatype(), output.dimension()));
        }
        return told;
    }

    private static ProtoWriter tensor(String name, Datatype datatype, long size) {
        return new ProtoWriter().text(1, name).text(2, datatype.name()).packed(3, size);
    }

    @Override
    public String name() {
        return KserveDialect.NAME;
    }

    @Override
    public Optional<Conventions> conventions() {
        return Optional.of(GrpcConventions.INSTANCE);
    }
}
