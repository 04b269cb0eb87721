package roselle.bench.stub;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A connection to the stub: collects a request's bytes, then writes its tokens one by one. */
final class StubStream {
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final int LARGEST_REQUEST = 32 << 20;
    private static final byte[] HEAD = String.join(
                    "\r\n", "HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked", "", "")
            .getBytes(StandardCharsets.US_ASCII);
    private static final byte[] TOKEN = chunk(
            "data: {\"object\":\"text_completion\",\"model\":\"stub\",\"choices\":[{\"index\":0,\"text\":\" token\","
                    + "\"logprobs\":null,\"finish_reason\":null}]}\n\n");
    private static final byte[] HEALTH =
            plain("{\"object\":\"list\",\"data\":[{\"id\":\"stub\",\"object\":\"model\"}]}");

    private final SocketChannel channel;
    private final ByteArrayOutputStream request = new ByteArrayOutputStream();
    private @Nullable ByteBuffer unsent;
    private int number;
    private int promptTokens;
    private int wanted;
    private int sent;
    private boolean isStream;

    StubStream(SocketChannel channel) {
        this.channel = channel;
    }

    /** Adds bytes; true when a request for tokens is complete. */
    boolean receive(byte[] bytes, int length) throws IOException {
        request.write(bytes, 0, length);
        if (request.size() > LARGEST_REQUEST) {
            throw new IOException("a request is larger than " + LARGEST_REQUEST + " bytes");
        }
        byte[] all = request.toByteArray();
        int body = bodyStart(all);
        if (body < 0) {
            return false;
        }
        String head = new String(all, 0, body, StandardCharsets.ISO_8859_1);
        int size = contentLength(head);
        if (all.length < body + size) {
            return false;
        }
        request.reset();
        if (!head.startsWith("POST")) {
            write(HEALTH);
            return false;
        }
        begin(MAPPER.readTree(all, body, size));
        return true;
    }

    private void begin(JsonNode body) {
        isStream = body.path("stream").asBoolean(false);
        wanted = Math.max(1, body.path("max_tokens").asInt(16));
        JsonNode prompt = body.path("prompt");
        promptTokens = prompt.isArray()
                ? prompt.size()
                : Math.max(1, prompt.asString("").length() / 4);
        sent = 0;
    }

    private static int bodyStart(byte[] bytes) {
        for (int i = 3; i < bytes.length; i++) {
            if (bytes[i] == '\n' && bytes[i - 1] == '\r' && bytes[i - 2] == '\n') {
                return i + 1;
            }
        }
        return -1;
    }

    private static int contentLength(String head) {
        for (String line : head.split("\r\n", -1)) {
            if (line.regionMatches(true, 0, "content-length:", 0, 15)) {
                return Integer.parseInt(line.substring(15).strip());
            }
        }
        return 0;
    }

    void number(int value) {
        number = value;
    }

    int number() {
        return number;
    }

    int sent() {
        return sent;
    }

    /** Writes the next token; false when it was the last one. */
    boolean next() throws IOException {
        sent++;
        boolean isLast = sent == wanted;
        if (isStream) {
            if (sent == 1) {
                write(HEAD);
            }
            write(TOKEN);
            if (isLast) {
                write(end());
            }
        } else if (isLast) {
            write(plain("{\"object\":\"text_completion\",\"choices\":[{\"index\":0,\"text\":\""
                    + " token".repeat(wanted) + "\",\"finish_reason\":\"length\"}]," + usage() + "}"));
        }
        return !isLast;
    }

    private byte[] end() {
        String text = "data: {\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"length\"}]}\n\n"
                + "data: {\"choices\":[]," + usage() + "}\n\ndata: [DONE]\n\n";
        byte[] events = chunk(text);
        byte[] all = java.util.Arrays.copyOf(events, events.length + 5);
        System.arraycopy("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII), 0, all, events.length, 5);
        return all;
    }

    private String usage() {
        return "\"usage\":{\"prompt_tokens\":" + promptTokens + ",\"completion_tokens\":" + wanted + "}";
    }

    private void write(byte[] bytes) throws IOException {
        ByteBuffer rest = ByteBuffer.wrap(bytes);
        if (unsent == null) {
            channel.write(rest);
        }
        if (rest.hasRemaining()) {
            unsent = unsent == null ? rest : joined(unsent, rest);
        }
    }

    /** Writes what the socket did not take before; true when nothing is left. */
    boolean flush() throws IOException {
        ByteBuffer rest = unsent;
        if (rest != null) {
            channel.write(rest);
            unsent = rest.hasRemaining() ? rest : null;
        }
        return unsent == null;
    }

    private static ByteBuffer joined(ByteBuffer first, ByteBuffer second) throws IOException {
        if (first.remaining() > 1 << 20) {
            throw new IOException("a client does not read");
        }
        return ByteBuffer.allocate(first.remaining() + second.remaining())
                .put(first)
                .put(second)
                .flip();
    }

    void close() {
        try {
            channel.close();
        } catch (IOException _) {
            // nothing follows on it
        }
    }

    private static byte[] chunk(String data) {
        return (Integer.toHexString(data.length()) + "\r\n" + data + "\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] plain(String json) {
        return ("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + json.length() + "\r\n\r\n"
                        + json)
                .getBytes(StandardCharsets.US_ASCII);
    }
}
