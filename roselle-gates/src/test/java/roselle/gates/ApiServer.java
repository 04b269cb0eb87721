package roselle.gates;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.util.Base64;
import java.util.concurrent.locks.LockSupport;

/** A Kubernetes API server with its store, and nothing that acts on what it is told: no pod ever starts. */
final class ApiServer implements AutoCloseable {
    private static final long PATIENCE_NANOS = 120_000_000_000L;

    private final Path folder;
    private final Process store;
    private final Process server;
    private final Path configuration;

    ApiServer(Path folder) throws IOException, InterruptedException, GeneralSecurityException {
        this.folder = folder;
        Path etcd = ClusterPrograms.program("etcd");
        Path program = ClusterPrograms.program("kube-apiserver");
        int storePort = freePort();
        int peerPort = freePort();
        int port = freePort();
        String storeUri = "http://127.0.0.1:" + storePort;
        Path key = folder.resolve("accounts.pem");
        Files.writeString(key, privateKey());
        Path tokens = folder.resolve("tokens");
        Files.writeString(tokens, "secret,admin,1,system:masters\n");
        configuration = folder.resolve("configuration");
        Files.writeString(configuration, configuration(port));
        store = start(
                "etcd.log",
                etcd.toString(),
                "--data-dir=" + folder.resolve("etcd"),
                "--listen-client-urls=" + storeUri,
                "--advertise-client-urls=" + storeUri,
                "--listen-peer-urls=http://127.0.0.1:" + peerPort,
                "--unsafe-no-fsync");
        server = start(
                "server.log",
                program.toString(),
                "--etcd-servers=" + storeUri,
                "--bind-address=127.0.0.1",
                "--secure-port=" + port,
                "--cert-dir=" + folder.resolve("certificates"),
                "--service-cluster-ip-range=10.0.0.0/24",
                "--service-account-issuer=https://kubernetes.default.svc",
                "--service-account-key-file=" + key,
                "--service-account-signing-key-file=" + key,
                "--token-auth-file=" + tokens,
                "--authorization-mode=AlwaysAllow",
                "--disable-admission-plugins=ServiceAccount");
        awaitReady();
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static String privateKey() throws GeneralSecurityException {
        var generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(2048);
        byte[] encoded = generator.generateKeyPair().getPrivate().getEncoded();
        return "-----BEGIN PRIVATE KEY-----\n" + Base64.getMimeEncoder().encodeToString(encoded)
                + "\n-----END PRIVATE KEY-----\n";
    }

    private static String configuration(int port) {
        return """
                apiVersion: v1
                kind: Config
                current-context: test
                contexts: [{name: test, context: {cluster: test, user: admin}}]
                clusters: [{name: test, cluster: {server: "https://127.0.0.1:%d", insecure-skip-tls-verify: true}}]
                users: [{name: admin, user: {token: secret}}]
                """.formatted(port);
    }

    private Process start(String log, String... command) throws IOException {
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve(log).toFile())
                .start();
    }

    private void awaitReady() throws IOException, InterruptedException {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (kubectl("get", "--raw", "/readyz").status() != 0) {
            if (!server.isAlive() || System.nanoTime() > end) {
                close();
                assertThat(Files.readString(folder.resolve("server.log")))
                        .as("the server did not become ready")
                        .isNull();
            }
            LockSupport.parkNanos(100_000_000);
        }
    }

    Path configuration() {
        return configuration;
    }

    ClusterPrograms.Ended kubectl(String... arguments) throws IOException, InterruptedException {
        var all = new String[arguments.length + 1];
        all[0] = "--kubeconfig=" + configuration;
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return ClusterPrograms.run(ClusterPrograms.program("kubectl"), all);
    }

    @Override
    public void close() {
        server.destroyForcibly().onExit().join();
        store.destroyForcibly().onExit().join();
    }
}
