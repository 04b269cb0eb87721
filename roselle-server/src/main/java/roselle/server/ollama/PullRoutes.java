package roselle.server.ollama;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import roselle.api.InvalidRequestException;
import roselle.server.answer.Answers;
import roselle.server.answer.Models;
import roselle.server.config.ModelSupply;
import roselle.server.config.ModelSupply.Progress;
import roselle.server.config.ModelSupply.Unavailable;
import roselle.server.created.CreatedModel;
import roselle.server.created.CreatedModels;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.EventStream;
import roselle.server.http.Exchange;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;
import roselle.server.pool.EnginePool;

/** Fetches models from a hub into the folder of models that may change while the server runs. */
final class PullRoutes {
    /** How clients write that a model is on the hub. */
    private static final Pattern HUB = Pattern.compile("^(hf:|(https?://)?(hf\\.co|huggingface\\.co)/)");

    private static final String LATEST = ":latest";
    private static final long REPORT_MILLIS = 200;

    private final Answers answers;
    private final Models models;
    private final CreatedModels created;

    PullRoutes(Answers answers, CreatedModels created) {
        this.answers = answers;
        models = answers.models();
        this.created = created;
    }

    void register(Routes routes) {
        routes.post("/api/pull", this::pull);
    }

    /** What is there is not fetched. */
    private void pull(Exchange exchange) throws IOException {
        try (var _ = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            boolean streams = fields.bool("stream", true);
            fields.requireDefault(
                    "insecure", "the hub is asked as the program was told to, so it must be false", false);
            fields.requireDefault("username", "the hub is asked with the program's own token", "");
            fields.requireDefault("password", "the hub is asked with the program's own token", "");
            String older = fields.string("name").orElse("");
            String name = fields.string("model").orElse(older);
            fields.refuseOthers();
            boolean isThere = isThere(fields, name);
            if (!isThere) {
                requireSupply(name);
            }
            if (streams) {
                EventStream events = exchange.stream();
                if (!isThere) {
                    fetch(name, new Pull(exchange), events);
                }
                CreateRoutes.status(events.event(), "success");
                events.finish();
            } else {
                if (!isThere) {
                    adopt(name, supplied(name, new Pull(exchange)));
                }
                exchange.sendJson(200, CreateRoutes.status(new JsonWriter(), "success"));
            }
        }
    }

    private boolean isThere(JsonFields fields, String name) {
        if (created.find(name).isPresent()) {
            return true;
        }
        try {
            ModelNames.require(fields, models);
            return true;
        } catch (ApiException unknown) {
            if (unknown.kind() != ErrorKind.MODEL_NOT_FOUND) {
                throw unknown;
            }
            return false;
        }
    }

    private void requireSupply(String name) {
        boolean canFetch = models.pool().flatMap(EnginePool::supply).isPresent();
        if (!canFetch) {
            throw new ApiException(
                    ErrorKind.NOT_SUPPORTED,
                    "there is no model " + name + ", and fetching models is not supported here: start the server with"
                            + " --models FOLDER and --model-control poll or explicit");
        }
        if ((!BlobStore.isName(name) && !HUB.matcher(name).find()) || name.indexOf('/') < 0) {
            throw ApiException.invalid(
                    "model",
                    "model is " + name + ": models come from the Hugging Face hub, so write hf.co/org/name, or"
                            + " hf.co/org/name:Q4_K_M for one of several files");
        }
    }

    private EnginePool pool() {
        return models.pool().orElseThrow();
    }

    /** How far it is, for another thread; it ends as soon as the peer has gone. What has come by then stays for another try. */
    private static final class Pull implements Consumer<Progress> {
        private volatile Progress progress = new Progress(0, 0);
        private volatile boolean isUnwanted;

        Pull(Exchange exchange) {
            exchange.whenGone(() -> isUnwanted = true);
        }

        @Override
        public void accept(Progress next) {
            progress = next;
            if (isUnwanted) {
                throw new CancellationException("whoever wanted it has gone");
            }
        }
    }

    /** Fetches on a thread of its own, so that this one tells how far it is. */
    private void fetch(String name, Pull latest, EventStream events) throws IOException {
        CreateRoutes.status(events.event(), "pulling manifest");
        events.send();
        var fetched = new CompletableFuture<Path>();
        Thread.ofVirtual().name("pull " + name).start(() -> {
            try {
                fetched.complete(adopt(name, supplied(name, latest)));
            } catch (RuntimeException failure) {
                fetched.completeExceptionally(failure);
            }
        });
        Progress told = latest.progress;
        while (!isDone(fetched)) {
            Progress now = latest.progress;
            if (!now.equals(told)) {
                told = now;
                pulling(events.event(), name, now);
                events.send();
            }
        }
        Progress last = latest.progress;
        if (last.bytes() > 0) {
            pulling(events.event(), name, new Progress(last.bytes(), last.bytes()));
            events.end();
        }
        for (String status : List.of("verifying sha256 digest", "writing manifest")) {
            CreateRoutes.status(events.event(), status);
            events.end();
        }
    }

    /** Waits for the next report; throws what the fetching threw. */
    private static boolean isDone(CompletableFuture<Path> fetched) {
        try {
            fetched.get(REPORT_MILLIS, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException _) {
            return false;
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(failed);
        } catch (InterruptedException ending) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ending);
        }
    }

    private Path supplied(String name, Consumer<Progress> hearing) {
        ModelSupply supply = pool().supply().orElseThrow();
        try {
            return supply.fetch(onHub(name), hearing);
        } catch (InvalidRequestException noName) {
            throw ApiException.invalid("model", String.valueOf(noName.getMessage()));
        } catch (Unavailable unavailable) {
            throw new ApiException(ErrorKind.MODEL_NOT_FOUND, String.valueOf(unavailable.getMessage()));
        }
    }

    private static String onHub(String name) {
        String plain = HUB.matcher(name).replaceFirst("");
        return plain.endsWith(LATEST) ? plain.substring(0, plain.length() - LATEST.length()) : plain;
    }

    /** Makes what was fetched a model of the folder, and gives it the name that it was asked for by. */
    private Path adopt(String name, Path fetched) {
        try {
            Path model = pool().adopt(fetched, onHub(name).replaceAll("[^A-Za-z0-9._-]", "-"));
            String served = pool().nameOf(model)
                    .orElseThrow(() -> ApiException.invalid(
                            "model", "another model of the folder has the name that " + name + " would have"));
            String file = model.getFileName().toString();
            created.put(CreatedModel.another(ModelNames.listed(name), served).madeOf(served, file));
            return model;
        } catch (FileAlreadyExistsException taken) {
            throw ApiException.invalid(
                    "model",
                    "the folder of models has a file of the name that " + name
                            + " would have, which was not fetched: move it");
        } catch (IOException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
    }

    /** Clients show a bar for each digest; here it tells one model's fetching from another's. */
    private static void pulling(JsonWriter json, String name, Progress progress) {
        json.object()
                .field("status", "pulling " + name)
                .field("digest", "sha256:" + ModelRoutes.digest(name))
                .field("total", progress.bytes())
                .field("completed", progress.received())
                .endObject();
    }
}
