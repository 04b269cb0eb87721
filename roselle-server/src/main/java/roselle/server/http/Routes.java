package roselle.server.http;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import roselle.server.transport.RequestHead;

/**
 * The paths that a server answers, each by its exact spelling.
 *
 * <p>There are no patterns but folders, and a path is compared as it came, not decoded: {@code //v1/models} and {@code /v1/%6dodels} are
 * other paths, which are not there. So no rule about a path can be passed by writing it in another way.
 *
 * <p>A path belongs to the dialect that added it, and everything that is said on it, refusals of interceptors too, is said by
 * that dialect's conventions. Where nothing is, those of the folder's dialect hold, see {@link #speaksBelow}, or the server's, as where
 * a dialect has none of its own. A path that two
 * APIs have is told apart by its methods, or by a header that one of them sends, see {@link #onlyWith}.
 */
public final class Routes {
    private static final String BELOW = "*";

    private final Conventions standard;
    private final Map<String, Route> routes = new TreeMap<>();
    /** The longest first. */
    private final Set<String> tails =
            new TreeSet<>(Comparator.comparingInt(String::length).reversed().thenComparing(Comparator.naturalOrder()));

    /** Who speaks where nothing is, by folder. */
    private final Map<String, Conventions> folders = new TreeMap<>();

    private final Map<String, Marked> marked = new TreeMap<>();
    private final List<Interceptor> interceptors = new ArrayList<>();
    private Conventions present;
    private Map<String, Route> target = routes;
    private boolean isSwitchedOff;

    /** What requests with a header are answered by, before all other routes. */
    private record Marked(Conventions conventions, Map<String, Route> routes) {}

    /** Runs around every request, also those whose path is not there: the first added is the outermost. */
    @FunctionalInterface
    public interface Interceptor {
        /** Calls {@code next} to go on, or answers or throws instead. */
        void handle(Exchange exchange, Handler next) throws IOException;
    }

    /** No paths yet; {@code standard} is how the server speaks where no API is asked. */
    public Routes(Conventions standard) {
        this.standard = standard;
        present = standard;
    }

    /** Adds what a dialect answers. */
    public Routes add(Dialect dialect) {
        present = dialect.conventions().orElse(standard);
        dialect.register(this);
        present = standard;
        target = routes;
        return this;
    }

    /** Adds the paths of a dialect that is switched off: each says so, as the dialect says what is not there. */
    public Routes addSwitchedOff(Dialect dialect) {
        isSwitchedOff = true;
        add(dialect);
        isSwitchedOff = false;
        return this;
    }

    private static Handler switchedOff(String path) {
        return _ -> {
            throw new ApiException(
                    ErrorKind.NOT_FOUND,
                    path + " belongs to an API that is switched off here: --dialects says which are answered");
        };
    }

    /**
     * What the dialect adds from here on answers requests with this header alone, also on paths that another one has; requests
     * with it that nothing answers are refused in the dialect's words.
     */
    public Routes onlyWith(String header) {
        target = marked.computeIfAbsent(header, _ -> new Marked(present, new TreeMap<>()))
                .routes();
        return this;
    }

    /** What is below a folder, such as {@code /api/}, and nothing answers, is refused in the dialect's words. */
    public Routes speaksBelow(String folder) {
        folders.put(folder, present);
        return this;
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
        int star = path.indexOf(BELOW);
        int rest = star < 0 ? path.length() : star;
        int tail = star < 0 ? 0 : path.length() - star - 1;
        if (tail > 0) {
            tails.add(path.substring(star + 1));
        }
        Route route = target.computeIfAbsent(path, _ -> new Route(present, new TreeMap<>(), rest, tail));
        var answer = new Route.Method(present, isSwitchedOff ? switchedOff(path) : handler);
        if (route.methods().putIfAbsent(method, answer) != null) {
            throw new IllegalStateException("two answers to " + method + " " + path);
        }
        return this;
    }

    /**
     * Everything below a folder, such as {@code /v1/models/}: the rest of the path, percent-decoded, is
     * {@link Exchange#rest}.
     */
    public Routes getBelow(String folder, Handler handler) {
        return getBelow(folder, "", handler);
    }

    /** The same of paths alone that end with a tail, such as {@code /ready}, which is no part of the rest. */
    public Routes getBelow(String folder, String tail, Handler handler) {
        return add("GET", folder + BELOW + tail, handler);
    }

    /** The same for {@code POST}. */
    public Routes postBelow(String folder, Handler handler) {
        return postBelow(folder, "", handler);
    }

    /** The same for {@code POST}, of paths alone that end with a tail. */
    public Routes postBelow(String folder, String tail, Handler handler) {
        return add("POST", folder + BELOW + tail, handler);
    }

    /** The same for {@code DELETE}. */
    public Routes deleteBelow(String folder, Handler handler) {
        return add("DELETE", folder + BELOW, handler);
    }

    /** Each method with its path, such as {@code GET /v1/models/*}; the star stands for everything below, or before a tail. */
    public List<String> names() {
        return Stream.concat(Stream.of(routes), marked.values().stream().map(Marked::routes))
                .flatMap(paths -> paths.entrySet().stream())
                .flatMap(
                        path -> path.getValue().methods().keySet().stream().map(method -> method + " " + path.getKey()))
                .distinct()
                .toList();
    }

    /** How the server speaks where no API is asked. */
    Conventions standard() {
        return standard;
    }

    /** What answers a request. */
    Route find(RequestHead head) {
        Conventions otherwise = speaker(head.path());
        for (var each : marked.entrySet()) {
            if (head.header(each.getKey()).isPresent()) {
                otherwise = each.getValue().conventions();
                Route route = find(head.path(), each.getValue().routes());
                if (route != null) {
                    return route.as(asked(head.method()));
                }
            }
        }
        Route route = find(head.path(), routes);
        return route != null
                ? route.as(asked(head.method()))
                : new Route(otherwise, Map.of(), head.path().length(), 0);
    }

    /** Who speaks at a path that nothing answers. */
    private Conventions speaker(String path) {
        return folders.entrySet().stream()
                .filter(folder -> path.startsWith(folder.getKey()))
                .max(Comparator.comparingInt(folder -> folder.getKey().length()))
                .map(Map.Entry::getValue)
                .orElse(standard);
    }

    /** The method that answers one; whoever asks for the head alone is answered as to {@code GET}. */
    private static String asked(String method) {
        return method.equals("HEAD") ? "GET" : method;
    }

    private @Nullable Route find(String path, Map<String, Route> routes) {
        Route found = routes.get(path);
        for (String tail : tails) {
            if (found == null && path.endsWith(tail)) {
                found = findBelow(path, tail, routes);
            }
        }
        return found != null ? found : findBelow(path, "", routes);
    }

    /** What was added for the deepest folder with a tail, if the path has something between them. */
    private static @Nullable Route findBelow(String path, String tail, Map<String, Route> routes) {
        int end = path.length() - tail.length();
        for (int slash = path.lastIndexOf('/', end - 2); slash >= 0; slash = path.lastIndexOf('/', slash - 1)) {
            Route below = routes.get(path.substring(0, slash + 1) + BELOW + tail);
            if (below != null) {
                return below;
            }
        }
        return null;
    }

    /** The answer to a request. */
    Handler chain() {
        Handler chain = Routes::dispatch;
        for (Interceptor interceptor : interceptors.reversed()) {
            Handler next = chain;
            chain = exchange -> interceptor.handle(exchange, next);
        }
        return chain;
    }

    /** Has the handler of the exchange's path answer. */
    static void dispatch(Exchange exchange) throws IOException {
        Map<String, Route.Method> methods = exchange.route().methods();
        if (methods.isEmpty()) {
            throw new ApiException(
                    ErrorKind.NOT_FOUND, "there is nothing at " + exchange.path() + ": see /v1/models and the guide");
        }
        Route.Method method = methods.get(asked(exchange.method()));
        if (method == null && exchange.method().equals("OPTIONS")) {
            exchange.header("Allow", allowed(methods));
            exchange.sendEmpty(204);
            return;
        }
        if (method == null) {
            exchange.header("Allow", allowed(methods));
            throw new ApiException(
                    ErrorKind.METHOD_NOT_ALLOWED,
                    exchange.path() + " does not take " + exchange.method() + ", but " + allowed(methods));
        }
        method.handler().handle(exchange);
    }

    private static String allowed(Map<String, Route.Method> methods) {
        return String.join(", ", methods.keySet()) + (methods.containsKey("GET") ? ", HEAD" : "") + ", OPTIONS";
    }
}
