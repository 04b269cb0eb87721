package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import roselle.backend.UserCache;
import roselle.server.ConversationTrace.BrokenOffException;
import roselle.server.ConversationTrace.Turn;

/**
 * llm-d's own endpoint picker before servers that a file lists: it reads their metrics under Roselle's names, has prompts rendered by
 * the first of them, and knows from their events what is in whose cache.
 */
final class EndpointPicker implements AutoCloseable {
    private static final Path PROGRAM = UserCache.folder().resolve("cluster-programs/bin/epp");

    private static final String CONFIGURATION = """
            apiVersion: llm-d.ai/v1alpha1
            kind: EndpointPickerConfig
            plugins:
            - {name: servers, type: file-discovery, parameters: {path: "FILE"}}
            - {type: token-producer, parameters: {modelName: demo, vllm: {url: "FIRST"}}}
            - type: endpoint-notification-source
            - type: metrics-data-source
            - type: core-metrics-extractor
              parameters:
                defaultEngine: roselle
                engineConfigs:
                - name: roselle
                  queuedRequestsSpec: roselle_requests_waiting
                  runningRequestsSpec: roselle_requests_running
                  kvUsageSpec: roselle_kv_cache_usage_ratio
                  cacheInfoSpec: roselle_cache_config_info
            - type: precise-prefix-cache-producer
              parameters:
                speculativeIndexing: true
                tokenProcessorConfig: {blockSizeTokens: 16}
                kvEventsConfig:
                  topicFilter: "kv@"
                  discoverPods: true
                  podDiscoveryConfig: {socketPort: EVENTS, replaySocketPort: REPLAY}
            - {type: prefix-cache-scorer, parameters: {prefixMatchInfoProducerName: precise-prefix-cache-producer}}
            - type: kv-cache-utilization-scorer
            - type: queue-scorer
            - type: active-request-scorer
            - {type: no-hit-lru-scorer, parameters: {prefixMatchInfoProducerName: precise-prefix-cache-producer}}
            - {type: max-score-picker, parameters: {maxNumOfEndpoints: 4}}
            - type: single-profile-handler
            dataLayer:
              discovery: {pluginRef: servers}
              sources:
              - pluginRef: metrics-data-source
                extractors: [{pluginRef: core-metrics-extractor}]
              - pluginRef: endpoint-notification-source
                extractors: [{pluginRef: precise-prefix-cache-producer}]
            schedulingProfiles:
            - name: default
              plugins:
              - {pluginRef: prefix-cache-scorer, weight: 6}
              - {pluginRef: active-request-scorer, weight: 2}
              - {pluginRef: queue-scorer, weight: 1}
              - {pluginRef: kv-cache-utilization-scorer, weight: 1}
              - {pluginRef: no-hit-lru-scorer, weight: 1}
              - pluginRef: max-score-picker
            """;

    private final Process process;
    private final Path log;
    private final PickerClient client;
    private final ConversationTrace trace;
    private final AtomicInteger again = new AtomicInteger();
    private final AtomicInteger brokenOff = new AtomicInteger();

    /** Skips the test where nobody has built the program. */
    static void requireProgram() {
        assumeTrue(
                Files.isExecutable(PROGRAM),
                "there is no " + PROGRAM
                        + ": tools/cluster-programs.sh builds it from a checkout of llm-d/llm-d-router");
    }

    /** Before servers whose addresses differ, and whose events have the same two ports. */
    EndpointPicker(Path folder, ConversationTrace trace, List<URI> servers, TraceServer.Ports ports) throws Exception {
        this.trace = trace;
        var list = new StringBuilder("endpoints:\n");
        for (URI server : servers) {
            list.append("- {name: server-%s, address: %s, port: \"%d\"}%n"
                    .formatted(server.getHost(), server.getHost(), server.getPort()));
        }
        Path file = Files.writeString(folder.resolve("endpoints.yaml"), list);
        Path configuration = Files.writeString(
                folder.resolve("picker.yaml"),
                CONFIGURATION
                        .replace("FILE", file.toString())
                        .replace("FIRST", servers.getFirst().toString())
                        .replace("EVENTS", Integer.toString(ports.events()))
                        .replace("REPLAY", Integer.toString(ports.replay())));
        log = Path.of("target", "picker.log").toAbsolutePath();
        int port = freePort();
        process = new ProcessBuilder(
                        PROGRAM.toString(),
                        "--config-file=" + configuration,
                        "--pool-name=demo",
                        "--pool-namespace=tests",
                        "--secure-serving=false",
                        "--metrics-endpoint-auth=false",
                        "--tracing=false",
                        "--grpc-port=" + port,
                        "--grpc-health-port=" + freePort(),
                        "--metrics-port=" + freePort())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        awaitListening(address);
        client = new PickerClient(address);
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private void awaitListening(InetSocketAddress address) throws IOException {
        while (true) {
            assertThat(process.isAlive())
                    .as("the picker goes on: " + Files.readString(log))
                    .isTrue();
            try (var socket = new Socket()) {
                socket.connect(address);
                return;
            } catch (IOException _) {
                LockSupport.parkNanos(10_000_000);
            }
        }
    }

    /** Asks the server that the picker names, and where it gives no answer the next that it names. */
    Turn ask(String body) throws IOException, InterruptedException {
        while (true) {
            try (PickerClient.Pick pick = client.pick(ConversationTrace.PATH, body)) {
                Turn turn = askOneOf(pick.servers(), body);
                pick.answered("{\"choices\":[],\"usage\":{\"prompt_tokens\":%d}}".formatted(turn.prompt()));
                return turn;
            } catch (BrokenOffException _) {
                brokenOff.incrementAndGet(); // its client would see so, and ask anew
            }
        }
    }

    private Turn askOneOf(List<String> servers, String body) throws IOException, InterruptedException {
        var failures = new IOException("no server answers of " + servers);
        for (String server : servers) {
            try {
                return trace.ask(URI.create("http://" + server), body);
            } catch (BrokenOffException broken) {
                throw broken;
            } catch (IOException failure) {
                failures.addSuppressed(failure);
                again.incrementAndGet();
            }
        }
        throw failures;
    }

    /** Requests that one server left without an answer, so that the next was asked. */
    int again() {
        return again.get();
    }

    /** Answers that broke off when a client had begun to read. */
    int brokenOff() {
        return brokenOff.get();
    }

    /** What it has said. */
    String log() throws IOException {
        return Files.readString(log);
    }

    @Override
    public void close() throws IOException {
        client.close();
        process.destroy();
        process.onExit().join();
    }
}
