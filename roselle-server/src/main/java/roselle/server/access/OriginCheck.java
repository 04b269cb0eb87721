package roselle.server.access;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import roselle.server.config.AccessOptions;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.Routes;

/**
 * Lets scripts of the server's own page ask, and those of pages that were allowed (CORS); refuses those of all others before
 * anything is done for them.
 */
public final class OriginCheck implements Routes.Interceptor {
    private static final String EXPOSED = "x-request-id, retry-after";

    private static final String PREFLIGHT_SECONDS = "600";

    private final List<String> origins;
    private final boolean takesAll;

    public OriginCheck(AccessOptions access) {
        origins = access.origins().stream()
                .map(origin -> origin.toLowerCase(Locale.ROOT))
                .toList();
        takesAll = origins.contains(AccessOptions.ANY);
    }

    @Override
    public void handle(Exchange exchange, Handler next) throws IOException {
        Optional<String> origin = exchange.requestHeader("origin");
        if (origin.isEmpty() || isOwn(origin.orElseThrow(), exchange)) {
            next.handle(exchange);
        } else if (takesAll || origins.contains(origin.orElseThrow().toLowerCase(Locale.ROOT))) {
            allow(origin.orElseThrow(), exchange, next);
        } else {
            throw new ApiException(
                    ErrorKind.ORIGIN_NOT_ALLOWED,
                    "scripts of this page may not ask this server: allow its origin with --allowed-origins");
        }
    }

    /** Whether no script of another server's page asks: one of this server's does, or a program that is no browser. */
    public static boolean isOwnPage(Exchange exchange) {
        return exchange.requestHeader("origin")
                .map(origin -> isOwn(origin, exchange))
                .orElse(true);
    }

    /** Whether the page came from this server, by the name that it was called. */
    private static boolean isOwn(String origin, Exchange exchange) {
        int scheme = origin.indexOf("://");
        return scheme > 0 && origin.substring(scheme + 3).equalsIgnoreCase(exchange.authority());
    }

    private void allow(String origin, Exchange exchange, Handler next) throws IOException {
        exchange.header("access-control-allow-origin", takesAll ? AccessOptions.ANY : origin);
        exchange.header("vary", "Origin");
        if (exchange.method().equals("OPTIONS")
                && exchange.requestHeader("access-control-request-method").isPresent()) {
            exchange.header("access-control-allow-methods", "GET, POST, DELETE");
            exchange.header("access-control-max-age", PREFLIGHT_SECONDS);
            exchange.requestHeader("access-control-request-headers")
                    .ifPresent(names -> exchange.header("access-control-allow-headers", names));
            exchange.sendEmpty(204);
        } else {
            String quotas = String.join(", ", exchange.conventions().quotaHeaders());
            exchange.header("access-control-expose-headers", quotas.isEmpty() ? EXPOSED : EXPOSED + ", " + quotas);
            next.handle(exchange);
        }
    }
}
