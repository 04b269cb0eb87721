package roselle.server.metrics;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import roselle.api.GenerationRequest;
import roselle.server.access.KeyCheck;
import roselle.server.answer.Observer;
import roselle.server.config.LogOptions;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.Errors;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;

/** A line for each request that was answered: who asked what, how it ended, what it took. Nothing of what was said is in it. */
public final class AccessLog implements Observer, Routes.Interceptor {
    private static final String NOTE = "access log";
    /** Of requests whose client had gone, as nginx has it. */
    private static final int GONE = 499;

    private final LogOptions options;

    public AccessLog(LogOptions options) {
        this.options = options;
    }

    private boolean isOff() {
        return options.format() == LogOptions.Format.NONE;
    }

    @Override
    public Listener accepted(Exchange exchange, ServedModel model, GenerationRequest request, int promptTokens) {
        return exchange.note(NOTE)
                .map(AccessedTokens.class::cast)
                .map(tokens -> tokens.accepted(model.name(), promptTokens))
                .orElse(Listener.NONE);
    }

    @Override
    public void handle(Exchange exchange, Handler next) throws IOException {
        if (isOff()) {
            next.handle(exchange);
            return;
        }
        Instant begin = Instant.now();
        long beginNanos = System.nanoTime();
        var tokens = new AccessedTokens(beginNanos);
        exchange.note(NOTE, tokens);
        try {
            next.handle(exchange);
            write(exchange, exchange.status(), begin, tokens);
        } catch (UncheckedIOException | IOException gone) {
            write(exchange, GONE, begin, tokens);
            throw gone;
        } catch (RuntimeException failure) {
            ApiException error = Errors.of(failure);
            write(exchange, exchange.conventions().error(error, exchange.id()).status(), begin, tokens);
            throw error;
        }
    }

    private void write(Exchange exchange, int status, Instant begin, AccessedTokens tokens) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("time", begin.truncatedTo(ChronoUnit.MILLIS).toString());
        fields.put("peer", peer(exchange));
        exchange.note(KeyCheck.NAME_NOTE).ifPresent(name -> fields.put("key", name));
        fields.put("method", exchange.method());
        fields.put("path", exchange.path());
        fields.put("status", status);
        fields.put("id", exchange.id());
        tokens.write(fields);
        options.lines().accept(options.format() == LogOptions.Format.JSON ? json(fields) : text(fields));
    }

    private static String peer(Exchange exchange) {
        return exchange.peer() instanceof InetSocketAddress address && address.getAddress() != null
                ? address.getAddress().getHostAddress()
                : exchange.peer().toString();
    }

    private static String json(Map<String, Object> fields) {
        var json = new JsonWriter().object();
        fields.forEach((name, value) -> {
            if (value instanceof Number number) {
                json.field(name, number.longValue());
            } else {
                json.field(name, value.toString());
            }
        });
        return new String(json.endObject().toBytes(), StandardCharsets.UTF_8);
    }

    private static String text(Map<String, Object> fields) {
        return fields.entrySet().stream()
                .map(field -> field.getKey() + "=" + word(field.getValue().toString()))
                .collect(Collectors.joining(" "));
    }

    /** A value that cannot be taken for two, nor for another line: names of models and paths are strangers' words. */
    private static String word(String value) {
        var word = new StringBuilder();
        value.codePoints()
                .map(point -> point <= ' ' || point == '"' || Character.isISOControl(point) ? '_' : point)
                .forEach(word::appendCodePoint);
        return word.toString();
    }
}
