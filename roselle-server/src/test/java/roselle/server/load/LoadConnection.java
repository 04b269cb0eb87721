package roselle.server.load;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A client's connection that does no more than it must, so that thousands fit beside the server; HTTP/1.1, kept alive. */
final class LoadConnection implements AutoCloseable {
    private final Socket socket = new Socket();
    private final InputStream in;
    private boolean isChunked;
    private int left;

    /** Connects from one of the 254 addresses that loopback has for it, each with ports of its own. */
    LoadConnection(int port, int source) throws IOException {
        socket.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0." + (1 + source % 254)), 0));
        socket.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port), 30_000);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(120_000);
        in = new BufferedInputStream(socket.getInputStream(), 4096);
    }

    /** The JSON of a request for so many tokens. */
    static String completion(int tokens, boolean streams) {
        return "{\"prompt\":[1,2,3,4,5,6,7,8],\"max_tokens\":" + tokens + ",\"ignore_eos\":true,\"stream\":" + streams
                + "}";
    }

    void send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    static String post(String body) {
        return "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
                + body.length() + "\r\n\r\n" + body;
    }

    static String get(String path) {
        return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    }

    /** Reads the head of an answer, and returns its status. */
    int head() throws IOException {
        String first = line();
        isChunked = false;
        left = 0;
        for (String line = line(); !line.isEmpty(); line = line()) {
            String lower = line.toLowerCase(java.util.Locale.ROOT);
            isChunked |= lower.startsWith("transfer-encoding: chunked");
            if (lower.startsWith("content-length:")) {
                left = Integer.parseInt(line.substring(15).strip());
            }
        }
        return Integer.parseInt(first.substring(9, 12));
    }

    /** The next chunk of the answer's body; empty at its end. */
    String chunk() throws IOException {
        if (!isChunked) {
            String rest = text(left);
            left = 0;
            return rest;
        }
        String chunk = text(Integer.parseInt(line(), 16));
        line();
        return chunk;
    }

    /** Reads the body to its end, and returns how many events of a stream it had; the last of them is [DONE]. */
    int events() throws IOException {
        int events = 0;
        for (String chunk = chunk(); !chunk.isEmpty(); chunk = chunk()) {
            for (int at = chunk.indexOf("data: "); at >= 0; at = chunk.indexOf("data: ", at + 1)) {
                events++;
            }
        }
        return events;
    }

    private String text(int count) throws IOException {
        byte[] bytes = in.readNBytes(count);
        if (bytes.length < count) {
            throw new EOFException("the server closed the connection within an answer");
        }
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private String line() throws IOException {
        var line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new EOFException("the server closed the connection");
            }
            if (next != '\r') {
                line.append((char) next);
            }
        }
        return line.toString();
    }

    /** Goes without a word: the server's system learns of it by a reset. */
    void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
