package roselle.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;

/** A connection to a server of this machine, for bytes that no client would send. */
final class PlainConnection implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 120_000;

    private final Socket socket;

    PlainConnection(int port) throws IOException {
        this(new Socket(), port);
    }

    private PlainConnection(Socket socket, int port) throws IOException {
        this.socket = socket;
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        socket.setSoTimeout(PATIENCE_MILLIS);
    }

    /** A connection whose own end keeps few unread bytes, whatever this machine's defaults are. */
    static PlainConnection withoutRoom(int port) throws IOException {
        var socket = new Socket();
        socket.setReceiveBufferSize(4096);
        return new PlainConnection(socket, port);
    }

    PlainConnection send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        return this;
    }

    /** Sends what the server may refuse before it has read it all. */
    PlainConnection sendWhatIsTaken(String text) throws IOException {
        try {
            return send(text);
        } catch (SocketException refused) {
            return this;
        }
    }

    /** A request with a body of JSON, and further lines of the head. */
    PlainConnection post(String path, String body, String head) throws IOException {
        return send("POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + head + "Content-Length: " + body.length()
                + "\r\n\r\n" + body);
    }

    /** So many of the bytes that come next, or fewer at the end. */
    String read(int count) throws IOException {
        return new String(socket.getInputStream().readNBytes(count), StandardCharsets.ISO_8859_1);
    }

    /** The number in the first line of an answer. */
    int status() throws IOException {
        String begin = read("HTTP/1.1 200".length());
        return begin.startsWith("HTTP/1.1 ") ? Integer.parseInt(begin.substring(9)) : 0;
    }

    /** An answer's first line and headers, or what there is of them. */
    String head() throws IOException {
        var head = new StringBuilder();
        int next = 0;
        while (next >= 0 && head.indexOf("\r\n\r\n") < 0) {
            next = socket.getInputStream().read();
            head.append(next < 0 ? "" : (char) next);
        }
        return head.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
