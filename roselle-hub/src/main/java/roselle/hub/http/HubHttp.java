package roselle.hub.http;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import roselle.hub.request.HubConfig;
import roselle.hub.request.HubException;
import roselle.hub.text.NetworkText;
import roselle.hub.text.SafeText;

/**
 * Requests to the hub and to where it redirects.
 *
 * <p>Redirects are followed here and not by the JDK, because the token must not leave the hub: it goes to the endpoint's scheme,
 * host and port alone. HTTP/1.1 gives each request a connection of its own, so that pieces of a file do not share one window.
 * A watch gives up bodies that stall, as the JDK's own limit ends with the headers.
 */
public final class HubHttp implements AutoCloseable {
    private static final int MAX_REDIRECTS = 8;
    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);
    private static final Duration LONGEST_RETRY_AFTER = Duration.ofMinutes(1);

    private final HubConfig config;
    private final HttpClient client;
    private final Set<HubBody> bodies = ConcurrentHashMap.newKeySet();
    private final Thread watch;
    private volatile boolean isClosed;

    HubHttp(HubConfig config) {
        this.config = config;
        this.client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(config.transfer().times().connect())
                .build();
        this.watch = Thread.ofVirtual().name("roselle-hub-watch").start(this::watchBodies);
    }

    /** An address below the endpoint. */
    URI address(String path) {
        String base = config.endpoint().toString();
        return URI.create((base.endsWith("/") ? base.substring(0, base.length() - 1) : base) + path);
    }

    /** Fetches an address once, with a range of bytes such as {@code bytes=0-99} where one is wanted. */
    HubResponse fetch(URI address, Optional<String> range, String subject) throws PassingFailure {
        requireOnline(subject);
        URI current = address;
        Optional<HttpHeaders> hub = Optional.empty();
        for (int redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
            HttpResponse<InputStream> response = send(current, range);
            hub = hub.or(() -> Optional.of(response.headers()));
            if (!REDIRECTS.contains(response.statusCode())) {
                return answered(response, hub.orElseThrow(), subject);
            }
            discard(response);
            current = target(current, response.headers(), subject);
        }
        throw new HubException(
                HubException.Kind.BAD_DATA,
                subject + ": " + address + " redirects more than " + MAX_REDIRECTS + " times");
    }

    private void requireOnline(String subject) {
        if (config.isOffline()) {
            throw new HubException(
                    HubException.Kind.NOT_FOUND, subject + " is not in the cache, and offline nothing is fetched");
        }
    }

    private HttpResponse<InputStream> send(URI address, Optional<String> range) throws PassingFailure {
        var request = HttpRequest.newBuilder(address)
                .timeout(config.transfer().times().headers())
                .header("User-Agent", "roselle")
                .header("Accept-Encoding", "identity");
        range.ifPresent(bytes -> request.header("Range", bytes));
        if (isHub(address)) {
            config.token().ifPresent(token -> request.header("Authorization", "Bearer " + token));
        }
        try {
            return client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
        } catch (IOException failure) {
            throw new PassingFailure(host(address) + ": " + NetworkText.of(failure), failure);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new HubException(
                    HubException.Kind.TRY_AGAIN, "interrupted: run the same again to go on from there", interrupted);
        }
    }

    // ---- redirects ----

    private URI target(URI from, HttpHeaders headers, String subject) {
        String location = headers.firstValue("Location").orElse("");
        URI target = resolved(from, location, subject);
        boolean isHttp = "https".equalsIgnoreCase(target.getScheme()) || "http".equalsIgnoreCase(target.getScheme());
        boolean isWeaker = "https".equalsIgnoreCase(from.getScheme()) && !"https".equalsIgnoreCase(target.getScheme());
        if (!isHttp || isWeaker || target.getHost() == null) {
            throw badRedirect(from, location, subject);
        }
        return target;
    }

    private static URI resolved(URI from, String location, String subject) {
        try {
            return from.resolve(location);
        } catch (IllegalArgumentException malformed) {
            throw badRedirect(from, location, subject);
        }
    }

    private static HubException badRedirect(URI from, String location, String subject) {
        return new HubException(
                HubException.Kind.BAD_DATA,
                subject + ": " + host(from) + " redirects to '" + SafeText.of(location) + "', which is not followed");
    }

    /** Whether an address is the hub's own: the only one that may see the token. */
    private boolean isHub(URI address) {
        URI hub = config.endpoint();
        return hub.getScheme().equalsIgnoreCase(address.getScheme())
                && hub.getHost().equalsIgnoreCase(address.getHost())
                && port(hub) == port(address);
    }

    private static int port(URI address) {
        int standard = "https".equalsIgnoreCase(address.getScheme()) ? 443 : 80;
        return address.getPort() < 0 ? standard : address.getPort();
    }

    public static String host(URI address) {
        return address.getPort() < 0 ? address.getHost() : address.getHost() + ":" + address.getPort();
    }

    // ---- answers ----

    private HubResponse answered(HttpResponse<InputStream> response, HttpHeaders hub, String subject)
            throws PassingFailure {
        int status = response.statusCode();
        if (status == 200 || status == HubResponse.PARTIAL) {
            return new HubResponse(status, response.uri(), hub, response.headers(), guarded(response));
        }
        discard(response);
        throw refused(response, subject);
    }

    /** The failure to throw; one that may pass is thrown here. */
    private HubException refused(HttpResponse<InputStream> response, String subject) throws PassingFailure {
        int status = response.statusCode();
        boolean isForeign = !isHub(response.uri()); // its addresses are signed, and the signatures expire
        if (status == 408 || status == 429 || status >= 500 || (isForeign && (status == 401 || status == 403))) {
            throw new PassingFailure(
                    subject + ": " + host(response.uri()) + " answers " + status, retryAfter(response.headers()));
        }
        return new HubRefusal(subject, config, response).exception();
    }

    private static Duration retryAfter(HttpHeaders headers) {
        try {
            long seconds =
                    Long.parseLong(headers.firstValue("Retry-After").orElse("0").strip());
            return Duration.ofSeconds(Math.clamp(seconds, 0, LONGEST_RETRY_AFTER.toSeconds()));
        } catch (NumberFormatException dated) { // a date: the own pauses will do
            return Duration.ZERO;
        }
    }

    private static void discard(HttpResponse<InputStream> response) {
        try (InputStream body = response.body()) {
            body.readNBytes(4096); // a short body read to its end keeps the connection usable
        } catch (IOException _) {
            return;
        }
    }

    // ---- the watch ----

    private HubBody guarded(HttpResponse<InputStream> response) {
        var body = new HubBody[1];
        body[0] = new HubBody(host(response.uri()), response.body(), () -> bodies.remove(body[0]));
        bodies.add(body[0]);
        return body[0];
    }

    private void watchBodies() {
        Duration window = config.transfer().times().stall();
        while (!isClosed) {
            try {
                Thread.sleep(window.dividedBy(8));
            } catch (InterruptedException ended) {
                return;
            }
            bodies.forEach(body -> body.check(window));
        }
    }

    /** Breaks off everything under way. */
    void abort() {
        bodies.forEach(body -> body.abort("is not wanted any more"));
    }

    @Override
    public void close() {
        isClosed = true;
        watch.interrupt();
        abort();
        client.shutdownNow();
        client.close();
    }
}
