package roselle.bench.load;

import java.util.Locale;

/**
 * Reads one HTTP/1.1 answer from bytes as they come, and hands its body on line by line.
 *
 * <p>Bodies come in chunks, with a length, or until the connection ends. Nothing blocks and nothing is kept but the line
 * that is being read.
 */
final class AnswerReader {
    /** Who hears of an answer's lines. */
    interface Listener {
        /**
         * A line of the body, without its end.
         *
         * @param nanos when its last byte was read
         */
        void line(byte[] bytes, int length, long nanos);
    }

    private enum State {
        STATUS,
        HEADER,
        FIXED,
        CHUNK_SIZE,
        CHUNK,
        CHUNK_END,
        TRAILER,
        UNTIL_CLOSE,
        DONE
    }

    private final ByteLine head = new ByteLine();
    private final ByteLine line = new ByteLine();
    private Listener listener = (bytes, length, nanos) -> {};
    private State state = State.STATUS;
    private long left;
    private boolean isChunked;
    private long contentLength;
    private int status;
    private boolean isStream;
    private boolean keepsAlive;
    private boolean hasBytes;

    /** Begins with the next answer on the same connection. */
    void begin(Listener next) {
        listener = next;
        state = State.STATUS;
        left = 0;
        status = 0;
        hasBytes = false;
        head.clear();
        line.clear();
        beginHeaders();
    }

    private void beginHeaders() {
        isChunked = false;
        contentLength = -1;
        isStream = false;
        keepsAlive = true;
    }

    /** 0 until it is known. */
    int status() {
        return status;
    }

    /** Whether the body is a stream of events, as its type says. */
    boolean isStream() {
        return isStream;
    }

    boolean isDone() {
        return state == State.DONE;
    }

    /** Whether anything has come. */
    boolean hasBytes() {
        return hasBytes;
    }

    /** Whether the connection can carry a further request once this answer is done. */
    boolean keepsAlive() {
        return keepsAlive;
    }

    void feed(byte[] data, int length, long nanos) {
        hasBytes |= length > 0;
        int at = 0;
        while (at < length) {
            at = switch (state) {
                case STATUS, HEADER, CHUNK_SIZE, CHUNK_END, TRAILER -> headLine(data, at, length, nanos);
                case FIXED, CHUNK, UNTIL_CLOSE -> body(data, at, length, nanos);
                case DONE -> throw new ProtocolException("bytes follow the end of the answer");
            };
        }
    }

    /** The connection has ended; false where the answer has not. */
    boolean end(long nanos) {
        if (state == State.UNTIL_CLOSE) {
            finish(nanos);
        }
        return state == State.DONE;
    }

    private int headLine(byte[] data, int at, int length, long nanos) {
        int end = at;
        while (end < length && data[end] != '\n') {
            end++;
        }
        head.append(data, at, end - at);
        if (end == length) {
            return end;
        }
        String text = head.text();
        head.clear();
        headLine(text, nanos);
        return end + 1;
    }

    private void headLine(String text, long nanos) {
        switch (state) {
            case STATUS -> status(text);
            case HEADER -> header(text, nanos);
            case CHUNK_SIZE -> chunkSize(text);
            case CHUNK_END -> state = State.CHUNK_SIZE;
            case TRAILER -> trailer(text, nanos);
            case FIXED, CHUNK, UNTIL_CLOSE, DONE -> throw new IllegalStateException(state.name());
        }
    }

    private void status(String text) {
        if (!text.startsWith("HTTP/1.") || text.length() < 12) {
            throw new ProtocolException("the answer begins with no HTTP/1.1 status");
        }
        status = number(text.substring(9, 12), 10);
        keepsAlive = text.startsWith("HTTP/1.1");
        state = State.HEADER;
    }

    private void header(String text, long nanos) {
        if (text.isEmpty()) {
            endOfHeaders(nanos);
            return;
        }
        int colon = text.indexOf(':');
        String name = text.substring(0, Math.max(0, colon)).toLowerCase(Locale.ROOT);
        String value = text.substring(colon + 1).strip().toLowerCase(Locale.ROOT);
        switch (name) {
            case "transfer-encoding" -> isChunked = value.endsWith("chunked");
            case "content-length" -> contentLength = number(value, 10);
            case "content-type" -> isStream = value.startsWith("text/event-stream");
            case "connection" -> keepsAlive = !value.contains("close") && (keepsAlive || value.contains("keep-alive"));
            default -> {} // of no meaning here
        }
    }

    private void endOfHeaders(long nanos) {
        if (status < 200) {
            state = State.STATUS;
            beginHeaders();
        } else if (isChunked) {
            state = State.CHUNK_SIZE;
        } else if (contentLength >= 0) {
            left = contentLength;
            state = State.FIXED;
            finishIfRead(nanos);
        } else {
            keepsAlive = false;
            state = State.UNTIL_CLOSE;
        }
    }

    private void chunkSize(String text) {
        int end = text.indexOf(';');
        left = number((end < 0 ? text : text.substring(0, end)).strip(), 16);
        state = left == 0 ? State.TRAILER : State.CHUNK;
    }

    private void trailer(String text, long nanos) {
        if (text.isEmpty()) {
            finish(nanos);
        }
    }

    private int body(byte[] data, int at, int length, long nanos) {
        int count = state == State.UNTIL_CLOSE ? length - at : (int) Math.min(left, length - at);
        lines(data, at, at + count, nanos);
        if (state != State.UNTIL_CLOSE) {
            left -= count;
            finishIfRead(nanos);
        }
        return at + count;
    }

    private void finishIfRead(long nanos) {
        if (left == 0) {
            if (state == State.CHUNK) {
                state = State.CHUNK_END;
            } else {
                finish(nanos);
            }
        }
    }

    private void lines(byte[] data, int from, int to, long nanos) {
        int start = from;
        for (int i = from; i < to; i++) {
            if (data[i] == '\n') {
                line.append(data, start, i - start);
                listener.line(line.bytes(), line.length(), nanos);
                line.clear();
                start = i + 1;
            }
        }
        line.append(data, start, to - start);
    }

    private void finish(long nanos) {
        state = State.DONE;
        if (line.length() > 0) {
            listener.line(line.bytes(), line.length(), nanos);
            line.clear();
        }
    }

    private static int number(String text, int radix) {
        try {
            int value = Integer.parseInt(text, radix);
            if (value >= 0) {
                return value;
            }
        } catch (NumberFormatException _) {
            // said below
        }
        throw new ProtocolException("the answer has a length or a status that is no number");
    }
}
