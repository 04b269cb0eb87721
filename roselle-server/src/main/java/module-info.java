/** The server: HTTP, API dialects, metrics. */
@SuppressWarnings("requires-automatic") // Micrometer has no descriptors
module roselle.server {
    requires io.helidon.common.buffers;
    requires io.helidon.common.concurrency.limits;
    requires io.helidon.common.socket;
    requires io.helidon.common.tls;
    requires io.helidon.http;
    requires io.helidon.webserver;
    requires io.helidon.webserver.http2;
    requires micrometer.core;
    requires micrometer.registry.prometheus;
    requires transitive roselle.engine;
    requires tools.jackson.core;
    requires tools.jackson.databind;

    exports roselle.server;
    exports roselle.server.config;
}
