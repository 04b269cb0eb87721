package roselle.server.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Function;
import roselle.api.GenerationRequest;
import roselle.server.access.GatewayHeaders;
import roselle.server.answer.Models;
import roselle.server.answer.Observer;
import roselle.server.config.MetricOptions;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.Dialect;
import roselle.server.http.ErrorAnswer;
import roselle.server.http.Errors;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.Routes;

/**
 * Counts and times what the server does, and answers {@code /metrics}.
 *
 * <p>What the engine counts itself is read from its status when someone asks; what concerns a request is noted on the request's
 * own thread. The engine's thread does nothing for it.
 */
public final class Metrics implements Dialect, Observer, Routes.Interceptor {
    private static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Models models;
    private final SeriesNames names;
    private final Optional<PoolMeters> pool;
    private final List<EngineMeters> engines = new ArrayList<>(); // of those that were loaded when somebody last asked
    private final List<EncoderMeters> encoders = new ArrayList<>();
    private final Map<String, RequestMeters> requests = new ConcurrentHashMap<>();

    /** Of these models, by the names that the options say. */
    public Metrics(Models models, MetricOptions options) {
        this.models = models;
        names = new SeriesNames(options);
        pool = models.pool().map(from -> new PoolMeters(registry, from));
        models.bases().forEach(model -> requests.put(model.name(), new RequestMeters(registry, model.name())));
        followEngines();
    }

    /** Has meters of the engines that there are, and of no other. */
    private void followEngines() {
        follow(
                engines,
                models.bases(),
                EngineMeters::isOf,
                EngineMeters::close,
                model -> EngineMeters.register(registry, model));
        follow(
                encoders,
                models.encoders(),
                EncoderMeters::isOf,
                EncoderMeters::close,
                encoder -> EncoderMeters.register(registry, encoder));
    }

    private static <M, S> void follow(
            List<M> meters, List<S> loaded, BiPredicate<M, S> isOf, Consumer<M> close, Function<S, M> register) {
        meters.removeIf(each -> {
            boolean isGone = loaded.stream().noneMatch(served -> isOf.test(each, served));
            if (isGone) {
                close.accept(each);
            }
            return isGone;
        });
        loaded.stream()
                .filter(served -> meters.stream().noneMatch(each -> isOf.test(each, served)))
                .forEach(served -> meters.add(register.apply(served)));
    }

    @Override
    public void register(Routes routes) {
        routes.intercept(this).get("/metrics", this::scrape);
    }

    private void scrape(Exchange exchange) {
        exchange.send(200, TEXT, scraped());
    }

    synchronized byte[] scraped() {
        followEngines();
        engines.forEach(EngineMeters::look);
        pool.ifPresent(PoolMeters::tellModels);
        return names.in(registry.scrape()).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public Listener accepted(Exchange exchange, ServedModel model, GenerationRequest request, int promptTokens) {
        RequestMeters meters = requests.computeIfAbsent(model.name(), name -> new RequestMeters(registry, name));
        Optional<GatewayHeaders> wanted = exchange.note(GatewayHeaders.NOTE).map(GatewayHeaders.class::cast);
        return new TimedRequest(meters, request.output().choices(), System.nanoTime(), wanted);
    }

    @Override
    public void handle(Exchange exchange, Handler next) throws IOException {
        try {
            next.handle(exchange);
            answered(exchange.status());
        } catch (UncheckedIOException gone) {
            throw gone;
        } catch (RuntimeException failure) {
            ApiException error = Errors.of(failure);
            ErrorAnswer told = exchange.conventions().error(error, exchange.id());
            failed(told);
            answered(told.status());
            throw error;
        }
    }

    private void answered(int status) {
        Counter.builder("roselle.http.requests")
                .description("Requests over HTTP that were answered, by status")
                .tag("status", Integer.toString(status))
                .register(registry)
                .increment();
    }

    private void failed(ErrorAnswer error) {
        Counter.builder("roselle.errors")
                .description("Requests that were refused or failed, by the type and code of the error object")
                .tag("type", error.type())
                .tag("code", error.code().isEmpty() ? "none" : error.code())
                .register(registry)
                .increment();
    }
}
