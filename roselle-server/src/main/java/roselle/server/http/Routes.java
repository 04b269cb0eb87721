package roselle.server.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The paths that a server answers, each by its exact spelling.
 *
 * <p>There are no patterns, and a path is compared as it came, not decoded: {@code //v1/models} and {@code /v1/%6dodels} are
 * other paths, which are not there. So no rule about a path can be passed by writing it in another way.
 */
public final class Routes {
    private final Map<String, Map<String, Handler>> handlers = new TreeMap<>();
    private final List<Interceptor> interceptors = new ArrayList<>();

    /** Runs around every request, also those whose path is not there: the first added is the outermost. */
    @FunctionalInterface
    public interface Interceptor {
        /** Calls {@code next} to go on, or answers or throws instead. */
        void handle(Exchange exchange, Handler next) throws java.io.IOException;
    }

    public Routes get(String path, Handler handler) {
        return add("GET", path, handler);
    }

    public Routes post(String path, Handler handler) {
        return add("POST", path, handler);
    }

    public Routes delete(String path, Handler handler) {
        return add("DELETE", path, handler);
    }

    public Routes intercept(Interceptor interceptor) {
        interceptors.add(interceptor);
        return this;
    }

    private Routes add(String method, String path, Handler handler) {
        var methods = handlers.computeIfAbsent(path, _ -> new TreeMap<>());
        if (methods.putIfAbsent(method, handler) != null) {
            throw new IllegalStateException("two answers to " + method + " " + path);
        }
        return this;
    }

    /**
     * Everything below a folder, such as {@code /v1/models/}: the rest of the path, percent-decoded, is
     * {@link Exchange#rest}.
     */
    public Routes getBelow(String folder, Handler handler) {
        return add("GET", folder + "*", handler);
    }

    /** The same for {@code DELETE}. */
    public Routes deleteBelow(String folder, Handler handler) {
        return add("DELETE", folder + "*", handler);
    }

    /** The same for {@code POST}. */
    public Routes postBelow(String folder, Handler handler) {
        return add("POST", folder + "*", handler);
    }

    /** Each method with its path, such as {@code GET /v1/models/*}; the star stands for everything below. */
    public List<String> names() {
        return handlers.entrySet().stream()
                .flatMap(path -> path.getValue().keySet().stream().map(method -> method + " " + path.getKey()))
                .toList();
    }

    /** The answer to a request. */
    Handler chain() {
        Handler chain = this::dispatch;
        for (Interceptor interceptor : interceptors.reversed()) {
            Handler next = chain;
            chain = exchange -> interceptor.handle(exchange, next);
        }
        return chain;
    }

    private void dispatch(Exchange exchange) throws java.io.IOException {
        String method = exchange.method().equals("HEAD") ? "GET" : exchange.method();
        Map<String, Handler> methods = methodsOf(exchange);
        Handler handler = methods.get(method);
        if (handler == null && method.equals("OPTIONS")) {
            exchange.header("Allow", allowed(methods));
            exchange.sendEmpty(204);
            return;
        }
        if (handler == null) {
            exchange.header("Allow", allowed(methods));
            throw new ApiException(
                    405,
                    ApiException.INVALID_REQUEST,
                    "method_not_allowed",
                    "",
                    exchange.path() + " does not take " + exchange.method() + ", but " + allowed(methods));
        }
        handler.handle(exchange);
    }

    private Map<String, Handler> methodsOf(Exchange exchange) {
        Map<String, Handler> exact = handlers.get(exchange.path());
        if (exact != null) {
            return exact;
        }
        int slash = exchange.path().lastIndexOf('/');
        while (slash >= 0) {
            Map<String, Handler> below = handlers.get(exchange.path().substring(0, slash + 1) + "*");
            if (below != null && slash + 1 < exchange.path().length()) {
                exchange.restFrom(slash + 1);
                return below;
            }
            slash = slash == 0 ? -1 : exchange.path().lastIndexOf('/', slash - 1);
        }
        throw ApiException.notFound("there is nothing at " + exchange.path() + ": see /v1/models and the guide");
    }

    private static String allowed(Map<String, Handler> methods) {
        return String.join(", ", methods.keySet()) + (methods.containsKey("GET") ? ", HEAD" : "") + ", OPTIONS";
    }
}
