package roselle.server.openapi;

import roselle.server.http.Dialect;
import roselle.server.http.Routes;

/** {@code /openapi.json}: what the server answers, for tools that make clients and tests of it. */
public final class OpenApiDialect implements Dialect {
    private final byte[] document = OpenApiDocument.bytes();

    @Override
    public void register(Routes routes) {
        routes.get("/openapi.json", exchange -> exchange.send(200, "application/json", document));
    }
}
