package roselle.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import roselle.server.config.LimitOptions;
import roselle.server.config.ListenOptions;
import roselle.server.config.TlsOptions;

/**
 * A transport whose calls are answered with the length of their bodies, or, at {@code /stay}, never: such a call waits until its
 * peer has gone.
 */
final class TestTransport implements AutoCloseable {
    private static final long PATIENCE_NANOS = 120_000_000_000L;
    private static final String PASSWORD = "changeit";

    final AtomicInteger calls = new AtomicInteger();
    final AtomicInteger staying = new AtomicInteger();
    final AtomicInteger gone = new AtomicInteger();

    private final Transport transport;

    TestTransport(LimitOptions limits) {
        this(new ListenOptions("127.0.0.1", 0), limits);
    }

    TestTransport(ListenOptions listen, LimitOptions limits) {
        transport = Transport.start(
                listen, limits, this::answer, status -> new Refusals.Text("text/plain", "refused with " + status));
    }

    private void answer(Call call) throws IOException {
        calls.incrementAndGet();
        int status = 200;
        long length = 0;
        try {
            for (byte[] piece = call.read(); piece.length > 0; piece = call.read()) {
                length += piece.length;
            }
        } catch (RefusedException refused) {
            status = refused.status();
        }
        if (call.head().path().equals("/stay") || call.head().header("x-stay").isPresent()) {
            stay(call);
            return;
        }
        call.answer(status, Bytes.ascii("" + length));
    }

    private void stay(Call call) throws IOException {
        var left = new CountDownLatch(1);
        call.whenGone(left::countDown);
        if (call.head().header("x-stream").isPresent()) {
            call.begin(200);
            call.write(Bytes.ascii("first"), 5);
        }
        staying.incrementAndGet();
        try {
            left.await();
        } catch (InterruptedException interruption) {
            throw new IOException(interruption);
        }
        gone.incrementAndGet();
        throw new PeerGoneException(null);
    }

    int port() {
        return transport.port();
    }

    RawConnection connect() throws IOException {
        return RawConnection.plain(port());
    }

    static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited two minutes").isLessThan(end);
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** A certificate for this machine, and who trusts it. */
    record Certificate(TlsOptions files, SSLContext trusting) {
        static Certificate make(Path folder) throws Exception {
            Path file = folder.resolve("server.p12");
            var process = new ProcessBuilder(List.of(
                            Path.of(System.getProperty("java.home"), "bin", "keytool")
                                    .toString(),
                            "-genkeypair",
                            "-alias",
                            "server",
                            "-keyalg",
                            "EC",
                            "-dname",
                            "CN=localhost",
                            "-ext",
                            "san=ip:127.0.0.1,dns:localhost",
                            "-storetype",
                            "PKCS12",
                            "-keystore",
                            file.toString(),
                            "-storepass",
                            PASSWORD))
                    .inheritIO()
                    .start();
            assertThat(process.waitFor()).isZero();
            var store = KeyStore.getInstance("PKCS12");
            try (var in = Files.newInputStream(file)) {
                store.load(in, PASSWORD.toCharArray());
            }
            Path chain = pem(
                    folder.resolve("server.pem"),
                    "CERTIFICATE",
                    store.getCertificate("server").getEncoded());
            Path key = pem(
                    folder.resolve("server.key"),
                    "PRIVATE KEY",
                    store.getKey("server", PASSWORD.toCharArray()).getEncoded());
            return new Certificate(new TlsOptions(chain, key), trusting(store));
        }

        private static Path pem(Path file, String kind, byte[] bytes) throws IOException {
            String text = Base64.getMimeEncoder(64, Bytes.ascii("\n")).encodeToString(bytes);
            return Files.writeString(file, "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n");
        }

        private static SSLContext trusting(KeyStore store) throws Exception {
            var trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            trusted.setCertificateEntry("server", store.getCertificate("server"));
            var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            managers.init(trusted);
            var context = SSLContext.getInstance("TLS");
            context.init(null, managers.getTrustManagers(), null);
            return context;
        }
    }

    @Override
    public void close() {
        transport.close();
    }
}
