package roselle.server.access;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import roselle.api.InvalidRequestException;
import roselle.server.config.AccessOptions;
import roselle.server.config.ApiKey;
import roselle.server.http.ApiException;
import roselle.server.http.Credentials;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.Routes;

/**
 * Asks for an API key wherever one is needed: everywhere but for the page's own files and what tells whether the server is well.
 *
 * <p>Keys are compared by hash, all of them each time and each in constant time, so that the time tells nothing about any.
 */
public final class KeyCheck implements Routes.Interceptor {
    /** Under this name the exchange has the {@link KeyUse} of its request. */
    static final String NOTE = "key";
    /** What a request notes the name of its key under. */
    public static final String NAME_NOTE = "key name";

    private static final Set<String> OPEN = Set.of(
            "/",
            "/health",
            "/ready",
            "/version",
            "/v2/health/live",
            "/v2/health/ready",
            "/inference.GRPCInferenceService/ServerLive",
            "/inference.GRPCInferenceService/ServerReady");
    private static final String PAGE_FILES = "/web/";
    private static final String METRICS = "/metrics";
    private static final Set<String> FOR_OPERATORS = Set.of(
            METRICS,
            "/dashboard/state",
            "/models",
            "/models/load",
            "/models/unload",
            "/api/create",
            "/api/copy",
            "/api/delete",
            "/api/pull",
            "/sleep",
            "/wake_up",
            "/inference.GRPCInferenceService/RepositoryModelLoad",
            "/inference.GRPCInferenceService/RepositoryModelUnload",
            "/v1/load_lora_adapter",
            "/v1/unload_lora_adapter");

    /** Below it models are loaded and unloaded; its index, which tells which there are, is beside it. */
    private static final String REPOSITORY = "/v2/repository/models/";

    /** Below it files for models come. */
    private static final String BLOBS = "/api/blobs/";

    private final LongSupplier clock;
    private volatile List<Entry> entries;
    private final boolean opensMetrics;

    private record Entry(ApiKey key, KeyUse use) {}

    /** The check of these keys; {@code clock} is in nanoseconds. */
    public KeyCheck(AccessOptions access, LongSupplier clock) {
        this.clock = clock;
        entries = access.keys().stream()
                .map(key -> new Entry(key, new KeyUse(key, clock)))
                .toList();
        opensMetrics = access.opensMetrics();
    }

    /**
     * Knows these keys from now on and no others; what a key that stays as it was has taken of its limits stays, too.
     *
     * @throws InvalidRequestException if there are none where there were some, which would let everyone in, or some where there
     *     were none
     */
    public synchronized void replace(List<ApiKey> keys) {
        List<Entry> old = entries;
        if (keys.isEmpty() != old.isEmpty()) {
            throw new InvalidRequestException(
                    "a server with API keys keeps some, and one without gets none: start it anew");
        }
        entries = keys.stream().map(key -> entry(key, old)).toList();
    }

    private Entry entry(ApiKey key, List<Entry> old) {
        return old.stream()
                .filter(entry -> entry.key().equals(key))
                .findFirst()
                .orElseGet(() -> new Entry(key, new KeyUse(key, clock)));
    }

    @Override
    public void handle(Exchange exchange, Handler next) throws IOException {
        if (!entries.isEmpty() && !isOpen(exchange.path())) {
            KeyUse use = required(exchange);
            if (isForOperators(exchange.path())) {
                requireOperator(use);
            }
            exchange.note(NOTE, use);
            exchange.note(NAME_NOTE, use.name());
            exchange.chargeBodyTo("key " + use.name());
        }
        next.handle(exchange);
    }

    /** Refuses what concerns all keys where the request has come with a key that is no operator's; for paths that do other things, too. */
    public static void requireOperator(Exchange exchange) {
        exchange.note(NOTE).ifPresent(use -> requireOperator((KeyUse) use));
    }

    private static void requireOperator(KeyUse use) {
        if (!use.isOperator()) {
            throw new ApiException(
                    ErrorKind.OPERATOR_ONLY,
                    "this concerns all keys, so it needs an operator's key: one whose line has role=operator");
        }
    }

    private static boolean isForOperators(String path) {
        return FOR_OPERATORS.contains(path) || path.startsWith(REPOSITORY) || path.startsWith(BLOBS);
    }

    /** By the path as it came, as {@link Routes} compares it: what is written in another way is not open. */
    private boolean isOpen(String path) {
        return OPEN.contains(path) || path.startsWith(PAGE_FILES) || (opensMetrics && path.equals(METRICS));
    }

    private KeyUse required(Exchange exchange) {
        Credentials credentials = exchange.conventions().credentials();
        KeyUse use = find(credentials.key(exchange));
        if (use == null) {
            throw credentials.refusal(
                    exchange, "the API key is not known here: ask the operator of this server for one");
        }
        return use;
    }

    private @Nullable KeyUse find(String key) {
        byte[] hash = bytes(ApiKey.sha256(key));
        KeyUse found = null;
        for (Entry entry : entries) {
            if (MessageDigest.isEqual(hash, bytes(entry.key().sha256()))) {
                found = entry.use();
            }
        }
        return found;
    }

    private static byte[] bytes(String hash) {
        return hash.getBytes(StandardCharsets.US_ASCII);
    }
}
