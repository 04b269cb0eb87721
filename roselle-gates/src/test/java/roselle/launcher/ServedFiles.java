package roselle.launcher;

import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A server on loopback from which scripts download archives. */
final class ServedFiles implements AutoCloseable {
    private final Map<String, byte[]> files = new ConcurrentHashMap<>();
    private final AtomicInteger downloads = new AtomicInteger();
    private final HttpServer server = start();

    private HttpServer start() {
        try {
            var started = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            started.createContext("/", exchange -> {
                byte[] body = files.get(exchange.getRequestURI().getPath());
                if (exchange.getRequestURI().getPath().endsWith(".gz")) {
                    downloads.incrementAndGet();
                }
                if (body == null) {
                    exchange.sendResponseHeaders(404, -1);
                } else {
                    exchange.sendResponseHeaders(200, body.length);
                    exchange.getResponseBody().write(body);
                }
                exchange.close();
            });
            started.start();
            return started;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Serves these bytes, as they are when asked for, at a path. */
    void serve(String path, byte[] bytes) {
        files.put(path, bytes);
    }

    String url(String path) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + path;
    }

    /** How often an archive was asked for. */
    int downloads() {
        return downloads.get();
    }

    @Override
    public void close() {
        server.stop(0);
    }

    /** A folder and what it holds, as a .tar.gz in which it is the only entry. */
    static byte[] archive(Path folder) throws Exception {
        String name = String.valueOf(folder.getFileName());
        var process = new ProcessBuilder("tar", "-czf", "-", "-C", String.valueOf(folder.getParent()), name).start();
        var bytes = new ByteArrayOutputStream();
        process.getInputStream().transferTo(bytes);
        if (process.waitFor() != 0) {
            throw new IOException("tar ended with status " + process.exitValue());
        }
        return bytes.toByteArray();
    }

    static String sha256(byte[] bytes) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }
}
