package roselle.server.batch;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import roselle.server.answer.Admission;
import roselle.server.batch.ResultLog.Outcome;
import roselle.server.http.InnerRequests;
import roselle.server.http.InnerRequests.Answered;
import roselle.server.http.JsonWriter;
import roselle.server.http.RequestIds;

/**
 * Answers the lines of one file that have no answer yet, some at a time, each on a virtual thread; what it answers is in the log
 * before it counts as answered. A request that finds no room waits and tries again.
 */
final class LineAnswerer {
    private static final Duration PAUSE = Duration.ofMillis(500);

    private final InnerRequests requests;
    private final Semaphore places;
    private final InstantSource clock;
    private final ResultLog log;
    private final Admission.Ticket ticket;
    private final Set<InnerRequests.Request> running = ConcurrentHashMap.newKeySet();
    private final Phaser ends = new Phaser(1);
    private volatile boolean isStopped;
    private volatile @Nullable RuntimeException failure;

    LineAnswerer(
            InnerRequests requests, Semaphore places, InstantSource clock, ResultLog log, Admission.Ticket ticket) {
        this.requests = requests;
        this.places = places;
        this.clock = clock;
        this.log = log;
        this.ticket = ticket;
    }

    /**
     * Answers until the file's end, until {@code end}, when what is being answered is broken off, or until it is stopped; returns when
     * nothing is being answered any more.
     *
     * @return whether every line has an answer
     */
    boolean run(Path file, int longest, Instant end) throws IOException, InterruptedException {
        boolean isComplete = true;
        try (var lines = new JsonLines(file, longest)) {
            for (byte[] line = lines.next(); line != null; line = lines.next()) {
                int number = lines.number();
                if (log.has(number)) {
                    continue;
                }
                if (isStopped || millisUntil(end) == 0 || !places.tryAcquire(millisUntil(end), TimeUnit.MILLISECONDS)) {
                    isComplete = false;
                    break;
                }
                begin(line, number);
            }
        } finally {
            awaitEnds(end);
        }
        RuntimeException failed = failure;
        if (failed != null) {
            throw failed;
        }
        return isComplete && !isStopped;
    }

    private void awaitEnds(Instant end) throws InterruptedException {
        int phase = ends.arrive();
        try {
            ends.awaitAdvanceInterruptibly(phase, millisUntil(end), TimeUnit.MILLISECONDS);
        } catch (TimeoutException _) {
            stop();
            ends.awaitAdvance(phase);
        }
    }

    private long millisUntil(Instant end) {
        return Math.max(0, Duration.between(clock.instant(), end).toMillis());
    }

    private void begin(byte[] line, int number) {
        ends.register();
        Thread.ofVirtual().name("batch-line").start(() -> {
            try {
                answer(line, number);
            } catch (RuntimeException failed) {
                failure = failed; // of the disk: no line can be kept any more
                stop();
            } finally {
                places.release();
                ends.arriveAndDeregister();
            }
        });
    }

    private void answer(byte[] line, int number) {
        RequestLine request;
        try {
            request = RequestLine.read(line, number);
        } catch (RequestLine.Malformed malformed) {
            throw new IllegalStateException("line " + number + " was checked", malformed);
        }
        while (!isStopped) {
            var inner = requests.request(request.path(), BatchStore.utf8(request.body()), "batch " + ticket.key());
            running.add(inner);
            if (isStopped) {
                inner.leave();
            }
            Answered answered = inner.answer(Map.of(Admission.BROUGHT, ticket));
            running.remove(inner);
            if (!answered.isGone() && !answered.mayTryAgain()) {
                boolean succeeded = answered.status() == 200;
                log.add(number, succeeded ? Outcome.SUCCEEDED : Outcome.FAILED, written(request, answered));
                return;
            }
            pause();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private static byte[] written(RequestLine request, Answered answered) {
        return open(request.customId())
                .object("response")
                .field("status_code", answered.status())
                .field("request_id", answered.requestId())
                .name("body")
                .json(BatchStore.utf8(answered.body()))
                .endObject()
                .nullField("error")
                .endObject()
                .toBytes();
    }

    private static JsonWriter open(String customId) {
        return new JsonWriter()
                .object()
                .field("id", RequestIds.next("batch_req_"))
                .field("custom_id", customId);
    }

    /** Says of all lines without an answer that they have not been run. */
    static void giveUp(Path file, int longest, ResultLog log, String code, String message) throws IOException {
        try (var lines = new JsonLines(file, longest)) {
            for (byte[] line = lines.next(); line != null; line = lines.next()) {
                if (!log.has(lines.number())) {
                    log.add(lines.number(), Outcome.NOT_RUN, notRun(line, lines.number(), code, message));
                }
            }
        }
    }

    private static byte[] notRun(byte[] line, int number, String code, String message) {
        String id;
        try {
            id = RequestLine.read(line, number).customId();
        } catch (RequestLine.Malformed _) {
            id = ""; // cancelled before its lines were looked at
        }
        return open(id).nullField("response")
                .object("error")
                .field("code", code)
                .field("message", message)
                .endObject()
                .endObject()
                .toBytes();
    }

    /** Begins no more lines, and breaks off those that are being answered; their answers are dropped. */
    void stop() {
        isStopped = true;
        running.forEach(InnerRequests.Request::leave);
    }
}
