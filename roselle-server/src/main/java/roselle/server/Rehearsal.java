package roselle.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import roselle.api.GenerationRequest;
import roselle.api.InvalidRequestException;
import roselle.engine.Engine;
import roselle.server.config.AccessOptions;
import roselle.server.config.ApiKey;
import roselle.server.config.KeyLimits;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServedModel;
import roselle.server.config.ServerConfig;

/**
 * One request to a server of its own, on a port of its own that this process alone can ask, so that the first true request finds
 * everything between a socket and an engine loaded.
 *
 * <p>What that server counts and remembers ends with it. It serves nobody else: its only key is made here and told to nobody.
 * Where it cannot be, or takes too long, there is none, and the server starts all the same.
 */
final class Rehearsal {
    private static final System.Logger LOG = System.getLogger(Rehearsal.class.getName());
    private static final int PATIENCE_MILLIS = 2_000;
    private static final int MOST_ANSWER_BYTES = 64 << 10;
    private static final String HOST = ListenOptions.DEFAULT.host();
    private static final String BODY = "{\"prompt\":\"a\",\"max_tokens\":1,\"stream\":true}";

    private final ServedModel model;
    private final String key = ApiKey.random();

    private Rehearsal(ServedModel model) {
        this.model = model;
    }

    /** Holds the rehearsal of a model whose engine warms up. */
    static void hold(ServedModel model) {
        answerOf(model);
    }

    /** What came of it, as it came; nothing where there was none. */
    static String answerOf(ServedModel model) {
        try {
            return new Rehearsal(model).answer();
        } catch (IOException | UncheckedIOException unable) {
            LOG.log(Level.INFO, "event=not_rehearsed reason={0}", unable.toString());
            return "";
        }
    }

    private String answer() throws IOException {
        render(model.engine());
        var server = Server.start(config(), model);
        try {
            return ask(server.port());
        } finally {
            server.abandon();
        }
    }

    /** A message through the chat template and the tokenizer; the request itself is a prompt that a slow model reads at once. */
    private static void render(Engine engine) {
        try {
            engine.tokenize(GenerationRequest.builder().user("Hello").build().prompt());
        } catch (InvalidRequestException refused) {
            LOG.log(Level.DEBUG, "event=template_not_rehearsed", refused); // there is none, or it wants other messages
        }
    }

    private ServerConfig config() {
        var own = new ApiKey("rehearsal", ApiKey.sha256(key), KeyLimits.DEFAULT);
        return ServerConfig.DEFAULT.with(new ListenOptions(HOST, 0)).with(AccessOptions.DEFAULT.withKeys(List.of(own)));
    }

    private String ask(int port) throws IOException {
        byte[] head = ("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                        + "Content-Type: application/json\r\nAuthorization: Bearer " + key + "\r\nContent-Length: "
                        + BODY.length() + "\r\n\r\n" + BODY)
                .getBytes(StandardCharsets.US_ASCII);
        try (var socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getByName(HOST), port), PATIENCE_MILLIS);
            socket.setSoTimeout(PATIENCE_MILLIS);
            socket.getOutputStream().write(head);
            return new String(socket.getInputStream().readNBytes(MOST_ANSWER_BYTES), StandardCharsets.UTF_8);
        }
    }
}
