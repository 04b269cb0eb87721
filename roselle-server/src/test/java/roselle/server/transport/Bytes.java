package roselle.server.transport;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Bytes of HTTP/1.1 and HTTP/2, written by hand so that they may be wrong. */
final class Bytes {
    static final byte[] PREFACE = ascii("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int RESET = 3;
    static final int SETTINGS = 4;
    static final int PING = 6;
    static final int GO_AWAY = 7;
    static final int CONTINUATION = 9;
    static final int END_STREAM = 1;
    static final int END_HEADERS = 4;

    private Bytes() {}

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    static byte[] join(byte[]... parts) {
        var all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    static byte[] frame(int type, int flags, int stream, byte[] payload) {
        int length = payload.length;
        return join(
                new byte[] {
                    (byte) (length >> 16),
                    (byte) (length >> 8),
                    (byte) length,
                    (byte) type,
                    (byte) flags,
                    (byte) (stream >> 24),
                    (byte) (stream >> 16),
                    (byte) (stream >> 8),
                    (byte) stream
                },
                payload);
    }

    /** A preface with empty settings. */
    static byte[] opening() {
        return join(PREFACE, frame(SETTINGS, 0, 0, new byte[0]));
    }

    /** The headers of a POST to {@code /}, of one host, nothing of which enters the table. */
    static byte[] post() {
        return join(new byte[] {(byte) 0x83, (byte) 0x86, (byte) 0x84}, literal(1, "localhost"));
    }

    /** The headers of a GET of {@code /}. */
    static byte[] get() {
        return join(new byte[] {(byte) 0x82, (byte) 0x86, (byte) 0x84}, literal(1, "localhost"));
    }

    private static byte[] literal(int name, String value) {
        return join(new byte[] {(byte) name, (byte) value.length()}, ascii(value));
    }

    /** A header with a name of its own that enters the table of HPACK. */
    static byte[] indexed(String name, String value) {
        return join(new byte[] {0x40, (byte) name.length()}, ascii(name), length(value.length()), ascii(value));
    }

    private static byte[] length(int value) {
        if (value < 127) {
            return new byte[] {(byte) value};
        }
        int rest = value - 127;
        var bytes = new ByteArrayOutputStream();
        bytes.write(127);
        for (; rest >= 128; rest >>= 7) {
            bytes.write((rest & 127) | 128);
        }
        bytes.write(rest);
        return bytes.toByteArray();
    }
}
