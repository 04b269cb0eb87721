package roselle.hub.http;

import java.net.URI;
import java.net.http.HttpHeaders;

/**
 * An answer with a body to read.
 *
 * @param status 200 or 206
 * @param uri that answered, after redirects
 * @param hub what the hub's own answer said, redirect or not
 * @param headers of the last answer
 * @param body to be closed
 */
public record HubResponse(int status, URI uri, HttpHeaders hub, HttpHeaders headers, HubBody body)
        implements AutoCloseable {
    static final int PARTIAL = 206;

    public boolean isPartial() {
        return status == PARTIAL;
    }

    @Override
    public void close() {
        body.close();
    }
}
