package roselle.server.openai;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Predicate;
import roselle.api.CapacityException;
import roselle.api.DeviceException;
import roselle.engine.EngineCache;
import roselle.server.answer.Models;
import roselle.server.config.ServedEncoder;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;
import roselle.server.pool.EnginePool;
import roselle.server.pool.ModelState;

/**
 * vLLM's sleep: models give their memory to others for a while, and are there again without a start. On level 1 they keep their
 * weights, on level 2, which only a pool of models has, nothing.
 */
final class SleepRoutes {
    private final Models models;

    SleepRoutes(Models models) {
        this.models = models;
    }

    void register(Routes routes) {
        routes.get("/is_sleeping", this::tell).post("/sleep", this::sleep).post("/wake_up", this::wake);
    }

    /** Whether all models sleep, or that of the query. */
    private void tell(Exchange exchange) {
        Optional<String> name = name(exchange);
        boolean sleeps = models.pool().isPresent()
                ? areAll(pooled(models.pool().get(), name), this::sleepsInPool)
                : areAll(fixed(name), EngineCache::isAsleep);
        exchange.sendJson(
                200, new JsonWriter().object().field("is_sleeping", sleeps).endObject());
    }

    /** Whether there are any, and all are so. */
    private static <T> boolean areAll(List<T> each, Predicate<T> isSo) {
        return !each.isEmpty() && each.stream().allMatch(isSo);
    }

    private boolean sleepsInPool(String name) {
        return models.pool().orElseThrow().models().states().stream()
                .filter(state -> state.name().equals(name))
                .anyMatch(state -> state.sleepLevel() > 0);
    }

    private void sleep(Exchange exchange) {
        int level = level(exchange);
        exchange.query("mode").filter(mode -> !mode.equals("abort")).ifPresent(mode -> {
            throw ApiException.invalid("mode", "mode is " + mode + ": it must be abort, what is being answered fails");
        });
        Optional<String> name = name(exchange);
        exchange.refuseOtherQueries();
        var asleep = new ArrayList<CompletableFuture<Void>>();
        if (models.pool().isPresent()) {
            EnginePool pool = models.pool().get();
            List<String> names = pooled(pool, name);
            if (level == 1) {
                requireNoEncoder(names);
            }
            names.forEach(model -> asleep.add(pool.models().sleep(model, level)));
        } else if (level == 1) {
            requireNoEncoder(name.map(List::of)
                    .orElseGet(() ->
                            models.encoders().stream().map(ServedEncoder::name).toList()));
            fixed(name).forEach(cache -> asleep.add(cache.sleep()));
        } else {
            throw new ApiException(
                    ErrorKind.NOT_SUPPORTED,
                    "level 2 is not supported where a model stays as it is: start the server with several, or with --models");
        }
        asleep.forEach(SleepRoutes::await);
        exchange.sendEmpty(200);
    }

    /** The name in the query; of a model that a client made that of the model that answers. */
    private Optional<String> name(Exchange exchange) {
        return exchange.query("model").map(models::answering);
    }

    /** Before any model sleeps: what is asked of all is done of all, or of none. */
    private void requireNoEncoder(List<String> names) {
        models.encoders().stream()
                .map(ServedEncoder::name)
                .filter(names::contains)
                .findFirst()
                .ifPresent(encoder -> {
                    throw new ApiException(
                            ErrorKind.NOT_SUPPORTED,
                            "model",
                            "level 1 is not supported for encoders, and " + encoder
                                    + " is one: level 2 unloads it, in a server of several models");
                });
    }

    private static int level(Exchange exchange) {
        String level = exchange.query("level").orElse("1");
        if (!level.equals("1") && !level.equals("2")) {
            throw ApiException.invalid("level", "level is " + level + ": it must be 1 or 2");
        }
        return Integer.parseInt(level);
    }

    /** Weights are there or come with the rest: a call for them alone leaves the model asleep until that for its cache. */
    private void wake(Exchange exchange) {
        List<String> tags = exchange.queries("tags").stream()
                .flatMap(value -> List.of(value.split(",", -1)).stream())
                .toList();
        for (String tag : tags) {
            if (!tag.equals("weights") && !tag.equals("kv_cache")) {
                throw ApiException.invalid("tags", "tags has " + tag + ": it can have weights and kv_cache");
            }
        }
        Optional<String> name = name(exchange);
        exchange.refuseOtherQueries();
        boolean isForWeights = !tags.isEmpty() && !tags.contains("kv_cache");
        if (models.pool().isPresent()) {
            EnginePool pool = models.pool().get();
            pooled(pool, name).stream().filter(_ -> !isForWeights).forEach(pool.models()::wake);
        } else {
            fixed(name).stream()
                    .filter(cache -> !isForWeights && cache.isAsleep())
                    .map(EngineCache::wake)
                    .forEach(SleepRoutes::await);
        }
        exchange.sendEmpty(200);
    }

    private static void await(CompletableFuture<Void> done) {
        try {
            done.join();
        } catch (CompletionException failed) {
            Throwable cause = failed.getCause() == null ? failed : failed.getCause();
            throw cause instanceof CapacityException
                    ? new CapacityException(String.valueOf(cause.getMessage()), failed)
                    : new DeviceException(String.valueOf(cause.getMessage()), failed);
        }
    }

    /** The model of a name; without a name all that are loaded or sleep. */
    private List<String> pooled(EnginePool pool, Optional<String> name) {
        if (name.isPresent()) {
            return List.of(models.pooledName(pool, name));
        }
        return pool.models().states().stream()
                .filter(state -> state.isLoaded() || state.sleepLevel() > 0)
                .map(ModelState::name)
                .toList();
    }

    private List<EngineCache> fixed(Optional<String> name) {
        if (name.isPresent()) {
            return List.of(models.base(name).engine().cache());
        }
        return models.bases().stream()
                .map(ServedModel::engine)
                .map(roselle.engine.Engine::cache)
                .toList();
    }
}
