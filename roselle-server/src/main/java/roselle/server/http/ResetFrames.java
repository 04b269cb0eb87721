package roselle.server.http;

import java.nio.charset.StandardCharsets;
import java.util.function.IntConsumer;

/**
 * Finds the streams that a peer of HTTP/2 resets, in the bytes of its connection as they pass (RFC 9113, sections 3.4, 4.1 and
 * 6.4). Until the preface of HTTP/2 has passed there are no frames. One thread.
 */
final class ResetFrames {
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int HEADER = 9;
    private static final int TYPE_RESET = 3;

    private final IntConsumer resets;
    private final byte[] header = new byte[HEADER];
    private int prefaceBytes;
    private int headerBytes;
    private int payloadLeft;

    ResetFrames(IntConsumer resets) {
        this.resets = resets;
    }

    void read(byte[] bytes) {
        int index = 0;
        while (prefaceBytes < PREFACE.length && index < bytes.length) {
            byte next = bytes[index++];
            prefaceBytes = next == PREFACE[prefaceBytes] ? prefaceBytes + 1 : next == PREFACE[0] ? 1 : 0;
        }
        while (index < bytes.length) {
            if (payloadLeft > 0) {
                int skipped = Math.min(payloadLeft, bytes.length - index);
                payloadLeft -= skipped;
                index += skipped;
            } else {
                header(bytes[index++]);
            }
        }
    }

    private void header(byte next) {
        header[headerBytes++] = next;
        if (headerBytes < HEADER) {
            return;
        }
        headerBytes = 0;
        payloadLeft = (unsigned(0) << 16) | (unsigned(1) << 8) | unsigned(2);
        if (unsigned(3) == TYPE_RESET) {
            resets.accept(((unsigned(5) & 0x7F) << 24) | (unsigned(6) << 16) | (unsigned(7) << 8) | unsigned(8));
        }
    }

    private int unsigned(int index) {
        return header[index] & 0xFF;
    }
}
