package roselle.server.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** A connection to a transport of this machine, for bytes that no client would send. */
final class RawConnection implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 120_000;

    private final Socket plain;
    private final Socket socket;

    private RawConnection(Socket plain, Socket socket) {
        this.plain = plain;
        this.socket = socket;
    }

    static RawConnection plain(int port) throws IOException {
        var socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(PATIENCE_MILLIS);
        return new RawConnection(socket, socket);
    }

    /** With TLS, and the protocol that is agreed on in its handshake. */
    static RawConnection secure(int port, SSLContext trusting, String protocol) throws IOException {
        var plain = new Socket(InetAddress.getLoopbackAddress(), port);
        plain.setSoTimeout(PATIENCE_MILLIS);
        var socket = (SSLSocket) trusting.getSocketFactory().createSocket(plain, "localhost", port, true);
        var parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {protocol});
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return new RawConnection(plain, socket);
    }

    RawConnection send(byte[]... parts) throws IOException {
        socket.getOutputStream().write(Bytes.join(parts));
        socket.getOutputStream().flush();
        return this;
    }

    RawConnection send(String text) throws IOException {
        return send(Bytes.ascii(text));
    }

    /** All that comes until the connection ends. */
    String rest() {
        var text = new StringBuilder();
        try {
            for (int next = socket.getInputStream().read();
                    next >= 0;
                    next = socket.getInputStream().read()) {
                text.append((char) next);
            }
        } catch (SocketTimeoutException silent) {
            throw new AssertionError("nothing came, and the connection stayed: " + text, silent);
        } catch (IOException reset) {
            // an end as well
        }
        return text.toString();
    }

    /** Whether the other end has gone, or goes within some milliseconds; nothing is to come on it. */
    boolean hasEnded() throws IOException {
        socket.setSoTimeout(10);
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException _) {
            return false;
        } catch (SocketException _) {
            return true;
        } finally {
            socket.setSoTimeout(PATIENCE_MILLIS);
        }
    }

    /** The next bytes, as many. */
    byte[] bytes(int count) throws IOException {
        return socket.getInputStream().readNBytes(count);
    }

    /** An answer of HTTP/1.1 whose length is told: its status; the connection can be asked again. */
    int status() throws IOException {
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = socket.getInputStream().read();
            if (next < 0) {
                return 0;
            }
            head.append((char) next);
        }
        String lower = head.toString().toLowerCase(java.util.Locale.ROOT);
        int at = lower.indexOf("content-length: ");
        int end = lower.indexOf('\r', at);
        bytes(at < 0 ? 0 : Integer.parseInt(lower.substring(at + 16, end)));
        return Integer.parseInt(head.substring(9, 12));
    }

    /** The next frame of HTTP/2: type, flags, stream, payload as text; type -1 at the end. */
    Frame frame() throws IOException {
        byte[] header = bytes(9);
        if (header.length < 9) {
            return new Frame(-1, 0, 0, "");
        }
        int length = ((header[0] & 255) << 16) | ((header[1] & 255) << 8) | (header[2] & 255);
        int stream =
                ((header[5] & 127) << 24) | ((header[6] & 255) << 16) | ((header[7] & 255) << 8) | (header[8] & 255);
        return new Frame(header[3], header[4], stream, new String(bytes(length), StandardCharsets.ISO_8859_1));
    }

    /** Waits for a frame of a type. */
    Frame frame(int type) throws IOException {
        Frame frame = frame();
        while (frame.type() != type && frame.type() >= 0) {
            frame = frame();
        }
        return frame;
    }

    record Frame(int type, int flags, int stream, String payload) {}

    /** Says that nothing more comes, and goes on listening. */
    void endOutput() throws IOException {
        socket.shutdownOutput();
    }

    /** Goes without a word: the other system learns of it by a reset. */
    void reset() throws IOException {
        plain.setSoLinger(true, 0);
        plain.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
