/** The server: HTTP, API dialects, metrics. */
@SuppressWarnings("requires-automatic") // Micrometer has no descriptors
module roselle.server {
    requires io.netty.buffer;
    requires io.netty.codec;
    requires io.netty.codec.http;
    requires io.netty.codec.http2;
    requires io.netty.common;
    requires io.netty.handler;
    requires io.netty.transport;
    requires java.management;
    requires jdk.management;
    requires org.zeromq.jeromq;
    requires micrometer.core;
    requires micrometer.registry.prometheus;
    requires transitive roselle.engine;
    requires tools.jackson.core;
    requires tools.jackson.databind;

    exports roselle.server;
    exports roselle.server.config;
    exports roselle.server.gateway;
}
