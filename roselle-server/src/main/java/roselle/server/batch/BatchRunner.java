package roselle.server.batch;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import roselle.api.SchedulingOptions;
import roselle.server.answer.Admission;
import roselle.server.batch.Batch.LineError;
import roselle.server.batch.Batch.Tally;
import roselle.server.batch.ResultLog.Outcome;
import roselle.server.http.ApiException;
import roselle.server.http.InnerRequests;
import roselle.server.http.RequestIds;

/** Brings batches from state to state, each on a virtual thread; all of them share the places for requests, in turns. */
final class BatchRunner {
    private static final System.Logger LOG = System.getLogger(BatchRunner.class.getName());

    private static final int WAKING = 1_000_000;

    private final BatchStore store;
    private final InnerRequests requests;
    private final int longest;
    private final InstantSource clock;
    private final Semaphore places;
    private final Map<String, LineAnswerer> answering = new ConcurrentHashMap<>();
    private final Map<String, ResultLog> logs = new ConcurrentHashMap<>();
    private final Map<String, Thread> threads = new ConcurrentHashMap<>();
    private volatile boolean isEnding;

    BatchRunner(BatchStore store, InnerRequests requests, int longest, int atATime, InstantSource clock) {
        this.store = store;
        this.requests = requests;
        this.longest = longest;
        this.clock = clock;
        places = new Semaphore(atATime, true);
    }

    /** Goes on with a batch where it is. */
    void start(Batch batch) {
        Thread thread = Thread.ofVirtual().name(batch.id()).unstarted(() -> runAndTell(batch.id()));
        threads.put(batch.id(), thread);
        thread.start();
    }

    private void runAndTell(String id) {
        try {
            run(id);
        } catch (IOException | RuntimeException failure) {
            LOG.log(System.Logger.Level.ERROR, "event=batch_stopped id=" + id, failure);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt(); // the server ends; the next one goes on
        } finally {
            threads.remove(id);
        }
    }

    private void run(String id) throws IOException, InterruptedException {
        Path input = store.path(store.present(id).order().inputFile());
        if (store.present(id).state() == BatchState.VALIDATING && !validate(id, input)) {
            return;
        }
        try (var log = ResultLog.open(store.results(id))) {
            logs.put(id, log);
            answer(id, input, log);
            if (isEnding) {
                return;
            }
            if (store.present(id).state() == BatchState.CANCELLING) {
                LineAnswerer.giveUp(input, longest, log, "batch_cancelled", "the batch was cancelled");
            } else {
                LineAnswerer.giveUp(
                        input, longest, log, "batch_expired", "the batch expired before this request was answered");
            }
            finish(id, log);
        } finally {
            logs.remove(id);
        }
    }

    /** Looks at the input; false where the batch has failed. */
    private boolean validate(String id, Path input) throws IOException {
        var check = InputCheck.of(input, store.present(id).order().endpoint(), longest);
        synchronized (store) {
            Batch batch = store.present(id);
            boolean isCancelled = batch.state() == BatchState.CANCELLING;
            List<LineError> errors = check.errors();
            Batch checked = batch.with(new Tally(errors.isEmpty() ? check.lines() : 0, 0, 0))
                    .with(errors);
            if (errors.isEmpty() && isCancelled) {
                store.change(checked, List.of());
            } else {
                store.change(
                        checked.reached(errors.isEmpty() ? BatchState.IN_PROGRESS : BatchState.FAILED, store.now()),
                        List.of());
            }
            return errors.isEmpty();
        }
    }

    private void answer(String id, Path input, ResultLog log) throws IOException, InterruptedException {
        Batch.Order order = store.present(id).order();
        var lines = new LineAnswerer(requests, places, clock, log, new BatchTicket(order.key(), order.group()));
        answering.put(id, lines);
        try {
            if (store.present(id).state() == BatchState.IN_PROGRESS && !isEnding) {
                lines.run(input, longest, Instant.ofEpochSecond(order.expiresAt()));
            }
        } finally {
            answering.remove(id);
        }
    }

    /** Writes the files, and with them the last state, in one change. */
    private void finish(String id, ResultLog log) throws IOException {
        log.force();
        boolean isCancelled;
        synchronized (store) {
            Batch batch = store.present(id);
            isCancelled = batch.state() == BatchState.CANCELLING;
            if (batch.state() == BatchState.IN_PROGRESS) {
                store.change(batch.reached(BatchState.FINALIZING, store.now()), List.of());
            }
        }
        Batch batch = store.present(id);
        List<StoredFile> files = new ArrayList<>();
        String output = log.has(Outcome.SUCCEEDED) ? written(batch, log, true, files) : "";
        String errors = log.has(Outcome.FAILED) || log.has(Outcome.NOT_RUN) ? written(batch, log, false, files) : "";
        BatchState last = isCancelled
                ? BatchState.CANCELLED
                : log.has(Outcome.NOT_RUN) ? BatchState.EXPIRED : BatchState.COMPLETED;
        store.change(
                batch.with(new Tally(batch.tally().total(), log.succeeded(), log.failed()))
                        .with(output, errors)
                        .reached(last, store.now()),
                files);
        LOG.log(System.Logger.Level.INFO, "event=batch_ended id={0} state={1}", id, last.word());
    }

    private String written(Batch batch, ResultLog log, boolean ofSucceeded, List<StoredFile> files) throws IOException {
        String id = BatchStore.newFileId();
        long bytes = log.write(store.path(id), ofSucceeded, !ofSucceeded);
        String name = batch.id() + (ofSucceeded ? "_output.jsonl" : "_error.jsonl");
        long now = store.now();
        files.add(new StoredFile(
                id,
                batch.order().key(),
                name,
                "batch_output",
                bytes,
                now,
                now + batch.order().outputSeconds()));
        return id;
    }

    /** How many of a batch's requests have been answered at this moment. */
    Batch counted(Batch batch) {
        ResultLog log = logs.get(batch.id());
        return log == null || batch.state().isLast()
                ? batch
                : batch.with(new Tally(batch.tally().total(), log.succeeded(), log.failed()));
    }

    /** Has a batch that is being cancelled hear of it. */
    void cancelled(String id) {
        LineAnswerer lines = answering.get(id);
        if (lines != null) {
            lines.stop();
        }
    }

    /** Breaks everything off, to go on at the next start, and waits until nothing runs. */
    void end() {
        isEnding = true;
        answering.values().forEach(LineAnswerer::stop);
        places.release(WAKING); // whoever waits for a place; an interrupt would close the files
        for (Thread thread : List.copyOf(threads.values())) {
            try {
                thread.join();
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        }
    }

    static String newId() {
        return RequestIds.next("batch_");
    }

    /** Whose requests these are: behind all others of the key, and within none of its limits of minutes. */
    record BatchTicket(String key, String group) implements Admission.Ticket {
        @Override
        public int priority(int asked) {
            if (asked != 0) {
                throw ApiException.invalid(
                        "priority",
                        "priority is " + asked + ": requests of a batch are behind all others, so leave it out");
            }
            return SchedulingOptions.BACKGROUND;
        }
    }
}
