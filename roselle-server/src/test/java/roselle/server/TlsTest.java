package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.SocketException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.api.InvalidRequestException;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServedModel;
import roselle.server.config.ServerConfig;
import roselle.server.config.TlsOptions;

/** A server that speaks TLS with a certificate of its own. */
final class TlsTest {
    private static final char[] PASSWORD = "changeit".toCharArray();

    @TempDir
    private static Path folder;

    private static Engine engine;
    private static Server server;
    private static SSLContext trusting;

    @BeforeAll
    static void start() throws Exception {
        KeyStore store = newPair("server", "RSA");
        writePem("server", store);
        writePem("other", newPair("other", "EC"));
        trusting = trusting(store);
        engine = Engine.open(EngineConfig.of(DemoServer.demo()));
        server = start("server", "server");
    }

    @AfterAll
    static void stop() {
        server.close();
        engine.close();
    }

    private static Server start(String certificate, String key) {
        var tls = new TlsOptions(folder.resolve(certificate + ".pem"), folder.resolve(key + ".key"));
        return Server.start(
                ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0, tls)), new ServedModel("demo", engine));
    }

    /** A pair that keytool, which every JDK has, makes. */
    private static KeyStore newPair(String name, String algorithm)
            throws IOException, InterruptedException, GeneralSecurityException {
        Path file = folder.resolve(name + ".p12");
        var process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "server",
                        "-keyalg",
                        algorithm,
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=ip:127.0.0.1,dns:localhost",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        new String(PASSWORD)))
                .inheritIO()
                .start();
        assertThat(process.waitFor()).isZero();
        var store = KeyStore.getInstance("PKCS12");
        try (var in = Files.newInputStream(file)) {
            store.load(in, PASSWORD);
        }
        return store;
    }

    private static void writePem(String name, KeyStore store) throws IOException, GeneralSecurityException {
        Files.writeString(
                folder.resolve(name + ".pem"),
                pem("CERTIFICATE", store.getCertificate("server").getEncoded()));
        Files.writeString(
                folder.resolve(name + ".key"),
                pem("PRIVATE KEY", store.getKey("server", PASSWORD).getEncoded()));
    }

    private static String pem(String kind, byte[] bytes) {
        String text = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(bytes);
        return "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n";
    }

    private static SSLContext trusting(KeyStore store) throws IOException, GeneralSecurityException {
        var trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("server", store.getCertificate("server"));
        var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        var context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void answersAndStreamsOverBothProtocols(HttpClient.Version version) throws IOException, InterruptedException {
        try (var client = HttpClient.newBuilder()
                .sslContext(trusting)
                .version(version)
                .connectTimeout(Duration.ofMinutes(2))
                .build()) {
            var request = HttpRequest.newBuilder(server.uri().resolve("/v1/completions"))
                    .header("content-type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(
                            "{\"prompt\":\"Once\",\"max_tokens\":20,\"ignore_eos\":true,\"stream\":true}"))
                    .build();

            for (int time = 0; time < 3; time++) {
                var answer = client.send(request, HttpResponse.BodyHandlers.ofString());
                assertThat(answer.statusCode()).isEqualTo(200);
                assertThat(answer.version()).isEqualTo(version);
                assertThat(answer.body()).endsWith("data: [DONE]\n\n");
            }
        }
        assertThat(server.uri().getScheme()).isEqualTo("https");
    }

    @Test
    void noticesThatItsPeerHasGone() throws IOException {
        try (var socket = (SSLSocket) trusting.getSocketFactory().createSocket("127.0.0.1", server.port())) {
            String body = "{\"prompt\":\"Once\",\"max_tokens\":900,\"ignore_eos\":true,\"stream\":true}";
            socket.getOutputStream()
                    .write(("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + body.length()
                                    + "\r\n\r\n" + body)
                            .getBytes(StandardCharsets.US_ASCII));
            assertThat(socket.getInputStream().readNBytes(12))
                    .isEqualTo("HTTP/1.1 200".getBytes(StandardCharsets.US_ASCII));
        }

        DemoServer.await(() -> engine.status().running() == 0);
        assertThat(engine.status().usedPages()).isZero();
    }

    @Test
    void answersNobodyWithoutTls() throws IOException {
        try (var connection = new PlainConnection(server.port())) {
            connection.send("GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assertThat(connection.head()).doesNotContain("HTTP");
        } catch (SocketException _) {
            // as well: the connection was refused
        }
    }

    @ParameterizedTest
    @CsvSource({
        "server, other, damaged",
        "other, server, damaged",
        "server, twin, is not the key",
        "empty, server, has no certificate",
        "junk, server, has no certificate",
        "server, empty, openssl pkcs8",
        "server, junk, openssl pkcs8",
        "server, torn, damaged",
        "server, locked, openssl pkey"
    })
    void refusesFilesThatAreNoPair(String certificate, String key, String sentence) throws Exception {
        writePem("twin", Files.exists(folder.resolve("twin.p12")) ? load("twin") : newPair("twin", "RSA"));
        for (String ending : List.of(".pem", ".key")) {
            Files.writeString(folder.resolve("empty" + ending), "");
            Files.writeString(folder.resolve("junk" + ending), "-----BEGIN junk-----\nAAAA\n");
            Files.writeString(folder.resolve("torn" + ending), pem("PRIVATE KEY", new byte[] {48, 3, 1}));
            Files.writeString(folder.resolve("locked" + ending), pem("ENCRYPTED PRIVATE KEY", new byte[] {48, 3, 1}));
        }

        assertThatThrownBy(() -> start(certificate, key).close())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(sentence);
    }

    private static KeyStore load(String name) throws IOException, GeneralSecurityException {
        var store = KeyStore.getInstance("PKCS12");
        try (var in = Files.newInputStream(folder.resolve(name + ".p12"))) {
            store.load(in, PASSWORD);
        }
        return store;
    }

    @ParameterizedTest
    @CsvSource({"server, RSA PRIVATE KEY, ''", "other, EC PRIVATE KEY, EC PARAMETERS"})
    void readsTheOlderKindsOfKeys(String pair, String label, String before) throws Exception {
        byte[] bare = withoutAlgorithm(load(pair).getKey("server", PASSWORD).getEncoded());
        String parameters = before.isEmpty() ? "" : pem(before, new byte[] {6, 0});
        Files.writeString(folder.resolve("older.key"), parameters + pem(label, bare));

        try (var older = start(pair, "older");
                var connection = connect(older, trusting(load(pair)))) {
            assertThat(status(connection)).isEqualTo("HTTP/1.1 200");
        }
        Files.writeString(folder.resolve("older.key"), pem(label, new byte[] {48, 3, 1}));
        assertThatThrownBy(() -> start(pair, "older").close())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("damaged");
    }

    /** The third element of what PKCS #8 has: a version, an algorithm, and the key in octets. */
    private static byte[] withoutAlgorithm(byte[] pkcs8) {
        var bytes = ByteBuffer.wrap(pkcs8);
        enter(bytes);
        for (int count = 0; count < 2; count++) {
            int length = enter(bytes);
            bytes.position(bytes.position() + length);
        }
        var key = new byte[enter(bytes)];
        bytes.get(key);
        return key;
    }

    private static int enter(ByteBuffer bytes) {
        bytes.get();
        int length = bytes.get() & 0xff;
        return switch (length) {
            case 0x81 -> bytes.get() & 0xff;
            case 0x82 -> bytes.getShort() & 0xffff;
            default -> length;
        };
    }

    @Test
    void takesANewCertificateWithoutLosingConnections() throws Exception {
        writePem("rotating", load("server"));
        SSLContext trustingOther = trusting(load("other"));
        try (var rotating = start("rotating", "rotating");
                var old = connect(rotating, trusting)) {
            assertThat(status(old)).isEqualTo("HTTP/1.1 200");

            writePem("rotating", load("other"));
            rotating.rereadCertificate();
            requireAnswer(rotating, trustingOther);

            Files.writeString(folder.resolve("rotating.pem"), "junk");
            assertThatThrownBy(rotating::rereadCertificate)
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("has no certificate");
            requireAnswer(rotating, trustingOther);
            assertThatThrownBy(() -> requireAnswer(rotating, trusting(load("server"))))
                    .isInstanceOf(SSLHandshakeException.class);

            assertThat(status(old)).as("the connection from before").isEqualTo("HTTP/1.1 200");
        }
    }

    private static void requireAnswer(Server asked, SSLContext context) throws IOException {
        try (var connection = connect(asked, context)) {
            assertThat(status(connection)).isEqualTo("HTTP/1.1 200");
        }
    }

    private static SSLSocket connect(Server asked, SSLContext context) throws IOException {
        return (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", asked.port());
    }

    /** Of an answer that is read whole, so that the connection can be asked again. */
    private static String status(SSLSocket connection) throws IOException {
        connection
                .getOutputStream()
                .write("GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        var answer = new StringBuilder();
        while (answer.indexOf("}") < 0) {
            int next = connection.getInputStream().read();
            assertThat(next).as("the answer is " + answer).isNotNegative();
            answer.append((char) next);
        }
        return answer.substring(0, "HTTP/1.1 200".length());
    }

    @Test
    void refusesACertificateWithoutAKey() {
        assertThatThrownBy(() -> new TlsOptions(Path.of("a"), Path.of("")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("missing");
    }
}
