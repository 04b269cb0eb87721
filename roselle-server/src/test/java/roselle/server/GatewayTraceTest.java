package roselle.server;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.server.config.GatewayOptions;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServerConfig;

/** Conversations over four servers behind the gateway: how much of their prompts is found. */
@Tag("long")
final class GatewayTraceTest {
    @Test
    void findsWhatARouterThatKnowsAllWouldFind() throws Exception {
        try (var servers = new TraceServers();
                var gateway = Server.gateway(
                        ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)),
                        GatewayOptions.of(servers.uris()))) {
            servers.requireNearlyAll(servers.run("gateway", body -> servers.trace.ask(gateway.uri(), body)));
        }
    }
}
