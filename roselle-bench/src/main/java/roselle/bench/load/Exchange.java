package roselle.bench.load;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import roselle.bench.metric.ChunkTimes;
import roselle.bench.metric.RequestSample;
import roselle.bench.metric.RequestSample.TokenUsage;

/** A request in flight: what is seen of it until it becomes a {@link RequestSample}. One thread at a time owns it. */
final class Exchange implements AnswerReader.Listener {
    private static final int LONGEST_ERROR = 400;
    private static final byte[] DATA = "data:".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] DONE = "[DONE]".getBytes(StandardCharsets.US_ASCII);

    private final LoadRequest request;
    private final byte[] bytes;
    private long intended;
    private long started;
    private final StringBuilder refusal = new StringBuilder();
    private @Nullable AnswerReader answer;
    private long[] chunks = new long[64];
    private int chunkCount;
    private long lastChoice;
    private boolean hasReason;
    private boolean isClosed;
    private @Nullable TokenUsage usage;
    private @Nullable String error;

    Exchange(LoadRequest request, byte[] bytes) {
        this.request = request;
        this.bytes = bytes;
    }

    /** Its moment has come. */
    void start(long intendedNanos, long startedNanos) {
        intended = intendedNanos;
        started = startedNanos;
    }

    long offsetNanos() {
        return request.offsetNanos();
    }

    byte[] bytes() {
        return bytes;
    }

    int index() {
        return request.index();
    }

    long intended() {
        return intended;
    }

    /** The answer whose lines come here. */
    void hear(AnswerReader reader) {
        answer = reader;
        reader.begin(this);
    }

    /** Whether the stream said that nothing follows. */
    boolean isClosed() {
        return isClosed;
    }

    @Override
    public void line(byte[] line, int length, long nanos) {
        if (answer == null || answer.status() != 200 || !answer.isStream()) {
            refuse(line, length);
        } else if (startsWith(line, 0, length, DATA)) {
            int from = length > DATA.length && line[DATA.length] == ' ' ? DATA.length + 1 : DATA.length;
            data(line, from, length, nanos);
        }
    }

    private void refuse(byte[] line, int length) {
        if (refusal.length() < LONGEST_ERROR) {
            refusal.append(new String(line, 0, Math.min(length, LONGEST_ERROR), StandardCharsets.UTF_8));
        }
    }

    private void data(byte[] line, int from, int length, long nanos) {
        if (startsWith(line, from, length, DONE)) {
            isClosed = true;
            return;
        }
        TokenEvent event = TokenEvent.read(line, from, length - from);
        event.usage().ifPresent(told -> usage = told);
        event.error().ifPresent(told -> error = told);
        hasReason |= event.isLast();
        if (event.hasChoice()) {
            lastChoice = nanos;
        }
        if (event.hasToken()) {
            chunk(nanos);
        }
    }

    private static boolean startsWith(byte[] line, int from, int length, byte[] start) {
        return length - from >= start.length && Arrays.equals(line, from, from + start.length, start, 0, start.length);
    }

    private void chunk(long nanos) {
        if (chunkCount == chunks.length) {
            chunks = Arrays.copyOf(chunks, 2 * chunkCount);
        }
        chunks[chunkCount++] = nanos;
    }

    /** What was seen, at the end of the answer. */
    RequestSample finished(long nanos) {
        countTheEnd();
        return sample(nanos, failure());
    }

    /** Where an answer's one token is its end, no event has a text: that token came with the last event. */
    private void countTheEnd() {
        if (chunkCount == 0 && hasReason && usage != null && usage.completion() > 0) {
            chunk(lastChoice);
        }
    }

    private Optional<String> failure() {
        if (error != null) {
            return Optional.of(error);
        }
        int status = answer == null ? 0 : answer.status();
        if (status != 200) {
            return Optional.of("status " + status + ": " + refusal);
        }
        if (answer != null && !answer.isStream()) {
            return Optional.of("the answer is no stream of events: " + refusal);
        }
        if (!isClosed && !hasReason) {
            return Optional.of("the stream ended before the answer did");
        }
        return chunkCount == 0 ? Optional.of("the answer has no token") : Optional.empty();
    }

    /** What was seen until a failure. */
    RequestSample failed(long nanos, String reason) {
        return sample(nanos, Optional.of(reason));
    }

    private RequestSample sample(long nanos, Optional<String> failure) {
        boolean isWhole = failure.isEmpty() && lastChoice != 0;
        return new RequestSample(
                request.index(),
                request.promptTokens(),
                request.wantedTokens(),
                intended,
                started,
                ChunkTimes.of(chunks, chunkCount),
                isWhole ? lastChoice : nanos,
                Optional.ofNullable(usage),
                failure.map(Exchange::shortened));
    }

    private static String shortened(String text) {
        String line = text.replace('\n', ' ').strip();
        return line.length() <= LONGEST_ERROR ? line : line.substring(0, LONGEST_ERROR) + "…";
    }
}
