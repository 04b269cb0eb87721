package roselle.server.kserve;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import roselle.server.answer.Answers;
import roselle.server.answer.ListedModel;
import roselle.server.answer.Models;
import roselle.server.grpc.GrpcMessages;
import roselle.server.grpc.ProtoReader;
import roselle.server.grpc.ProtoWriter;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;
import roselle.server.pool.EnginePool;

/** Triton's calls over gRPC that tell which models there are, what they are like and did, and have them loaded and unloaded. */
final class GrpcRepository {
    private final Answers answers;
    private final Models models;
    private final Statistics statistics;

    GrpcRepository(Answers answers, Statistics statistics) {
        this.answers = answers;
        models = answers.models();
        this.statistics = statistics;
    }

    void index(Exchange exchange) throws IOException {
        var messages = new GrpcMessages(exchange);
        var fields = new ProtoReader("RepositoryIndexRequest", messages.only());
        boolean isForReady = false;
        while (fields.next()) {
            switch (fields.field()) {
                case 1 -> requireNoRepository(fields.text());
                case 2 -> isForReady = fields.bool();
                default -> throw fields.unknown();
            }
        }
        var all = new ProtoWriter();
        for (ListedModel model : models.listed()) {
            boolean isReady = ModelRoutes.isReady(model);
            if (isReady || !isForReady) {
                all.message(
                        1,
                        new ProtoWriter()
                                .text(1, model.name())
                                .text(2, ModelPath.VERSION)
                                .text(3, ModelRoutes.state(model))
                                .text(4, isReady ? "" : ModelRoutes.reason(model)));
            }
        }
        send(messages, all);
    }

    private static void requireNoRepository(String name) {
        if (!name.isEmpty()) {
            throw ApiException.invalid(
                    "repository_name", "repository_name is " + name + ": there is one repository, which has no name");
        }
    }

    /** Answers when the model is loaded. */
    void load(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            var messages = new GrpcMessages(exchange);
            String name = name("RepositoryModelLoadRequest", messages);
            models.permit(name);
            admitted.models().any(Optional.of(name));
            send(messages, new ProtoWriter());
        }
    }

    /** Answers at once; requests that use the model go on to their ends. */
    void unload(Exchange exchange) throws IOException {
        try (var _ = answers.admit(exchange)) {
            var messages = new GrpcMessages(exchange);
            String name = name("RepositoryModelUnloadRequest", messages);
            EnginePool pool = models.requirePool();
            pool.models().dismiss(models.pooledName(pool, Optional.of(name)));
            send(messages, new ProtoWriter());
        }
    }

    private static String name(String request, GrpcMessages messages) throws IOException {
        var fields = new ProtoReader(request, messages.only());
        String name = "";
        while (fields.next()) {
            switch (fields.field()) {
                case 1 -> requireNoRepository(fields.text());
                case 2 -> name = fields.text();
                case 3 -> readParameter(fields.message("parameter"));
                default -> throw fields.unknown();
            }
        }
        return name;
    }

    /** Clients send this one with each unloading: no model depends on another. */
    private static void readParameter(ProtoReader entry) {
        String key = "";
        boolean isSet = false;
        while (entry.next()) {
            switch (entry.field()) {
                case 1 -> key = entry.text();
                case 2 -> isSet = isTrue(entry.message("ModelRepositoryParameter"));
                default -> throw entry.unknown();
            }
        }
        if (!key.equals("unload_dependents") || isSet) {
            throw ApiException.invalid(
                    "parameters", "parameters has " + key + ": a model is loaded as the server was told to");
        }
    }

    private static boolean isTrue(ProtoReader value) {
        boolean isTrue = false;
        while (value.next()) {
            isTrue |= value.field() != 1 || value.bool();
        }
        return isTrue;
    }

    ProtoWriter statistics(ModelPath path) {
        return statistics.message(path.model().isEmpty() ? models.listed() : List.of(path.listed(models)));
    }

    /** The configuration that Triton would have of such a model. */
    ProtoWriter configuration(ModelPath path) {
        var told = new ProtoWriter()
                .text(1, path.listed(models).name())
                .text(17, "roselle")
                .message(19, new ProtoWriter().bool(1, true));
        for (Input input : Input.values()) {
            told.message(
                    5,
                    new ProtoWriter()
                            .text(1, input.wireName())
                            .number(2, input.datatype().number())
                            .packed(4, 1)
                            .bool(8, input.isOptional()));
        }
        for (Output output : Output.values()) {
            told.message(
                    6,
                    new ProtoWriter()
                            .text(1, output.wireName())
                            .number(2, output.datatype().number())
                            .packed(3, output.dimension()));
        }
        return new ProtoWriter().message(1, told);
    }

    private static void send(GrpcMessages messages, ProtoWriter answer) throws IOException {
        messages.send(answer);
        messages.end();
    }
}
