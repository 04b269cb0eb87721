package roselle.embedding;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import roselle.api.CapacityException;
import roselle.api.DeviceException;
import roselle.backend.step.StepLimits;

/**
 * The thread of an {@link EmbeddingEngine}: it fills steps with texts and hands out what they give.
 *
 * <p>Groups take turns, and within a group requests, a text at a time, so that one of many texts does not keep others waiting. A
 * step begins as soon as there is a text, unless the device has others that go first: while it runs, others gather for the next.
 */
final class EncodingLoop implements Runnable {
    private final EncoderModel model;
    private final StepLimits limits;
    private final LinkedBlockingQueue<TextRequest> mailbox = new LinkedBlockingQueue<>();
    private final TextTurns turns = new TextTurns();
    private final List<EncoderInput> texts = new ArrayList<>();
    private final List<TextRequest> owners = new ArrayList<>(); // of the texts
    private final List<EncoderOutput> outputs = new ArrayList<>(); // what becomes of each
    private final AtomicInteger waiting = new AtomicInteger();
    private final LongAdder steps = new LongAdder();
    private final LongAdder done = new LongAdder();
    private final LongAdder tokens = new LongAdder();
    private final LongAdder expired = new LongAdder();
    private final LongAdder stepNanos = new LongAdder();
    private final TextRequest end;
    private volatile boolean isClosed;
    private volatile String failure = "";
    private volatile long begun; // of the step under way, by System.nanoTime, made odd; 0 between steps

    EncodingLoop(EncoderModel model, EncoderOutput output, StepLimits limits) {
        this.model = model;
        end = new TextRequest(List.of(), output, 0, "");
        this.limits = limits;
    }

    EmbeddingStatus status() {
        long since = begun;
        return new EmbeddingStatus(
                waiting.get(),
                steps.sum(),
                done.sum(),
                tokens.sum(),
                expired.sum(),
                stepNanos.sum(),
                since == 0 ? 0 : Math.max(0, System.nanoTime() - since),
                !isClosed,
                failure);
    }

    /** Posts a request, from any thread. */
    void post(TextRequest request, int maxWaiting) {
        int count = request.inputs.size();
        if (waiting.addAndGet(count) > maxWaiting) {
            int others = waiting.addAndGet(-count);
            throw new CapacityException(
                    others + " texts wait already, and " + count + " more would exceed the limit of " + maxWaiting);
        }
        mailbox.add(request);
        if (isClosed) { // the thread may have ended before it saw the request
            request.future.completeExceptionally(closed());
        }
    }

    /** Has the thread end behind the step that it is in. */
    void close() {
        isClosed = true;
        mailbox.add(end);
    }

    private static DeviceException closed() {
        return new DeviceException("the engine was closed");
    }

    @Override
    public void run() {
        RuntimeException reason = closed();
        try {
            while (!isClosed) {
                gather();
                fill();
                if (!texts.isEmpty()) {
                    step();
                }
            }
        } catch (RuntimeException | Error thrown) {
            reason = new DeviceException("the engine failed: " + thrown, thrown);
            failure = thrown.toString();
            isClosed = true;
        }
        for (TextRequest left : owners) {
            left.future.completeExceptionally(reason);
        }
        takeMail();
        for (TextRequest left : turns.all()) {
            left.future.completeExceptionally(reason);
        }
    }

    /** Takes what was posted, and waits where there is nothing to do. */
    private void gather() {
        if (turns.isEmpty()) {
            try {
                turns.add(mailbox.take());
            } catch (InterruptedException stop) {
                isClosed = true;
            }
        }
        takeMail();
    }

    private void takeMail() {
        for (TextRequest request = mailbox.poll(); request != null; request = mailbox.poll()) {
            turns.add(request);
        }
    }

    /** Fills a step with texts of the requests in turn, up to the first that has no room. */
    private void fill() {
        texts.clear();
        owners.clear();
        outputs.clear();
        int rows = 0;
        long now = System.nanoTime();
        while (!turns.isEmpty() && texts.size() < limits.maxSequences()) {
            TextRequest request = turns.first();
            if (!isWanted(request, now)) {
                turns.pass(false);
                waiting.addAndGet(-request.left());
                continue;
            }
            if (rows + request.peek().length() > limits.maxRows()) {
                return;
            }
            EncoderInput text = request.next();
            rows += text.length();
            texts.add(text);
            owners.add(request);
            outputs.add(request.output);
            waiting.decrementAndGet();
            turns.pass(request.hasNext());
        }
    }

    private boolean isWanted(TextRequest request, long now) {
        if (!request.hasNext() || request.future.isDone()) {
            return false;
        }
        if (request.isExpired(now)) {
            expired.add(request.left());
            request.future.completeExceptionally(new CapacityException(
                    "the deadline passed with " + request.left() + " of " + request.inputs.size() + " texts waiting"));
            return false;
        }
        return true;
    }

    private void step() {
        long begin = System.nanoTime();
        begun = begin | 1;
        model.run(texts, outputs);
        steps.increment();
        done.add(texts.size());
        for (EncoderInput text : texts) {
            tokens.add(text.length());
        }
        for (int i = 0;
                i < texts.size();
                i++) { // counted before, since who hears of the last one may ask for the status
            EncoderOutput output = outputs.get(i);
            owners.get(i).add(output.kept(model.result(i, output)));
        }
        long nanos = System.nanoTime() - begin;
        stepNanos.add(nanos);
        begun = 0;
        rest(model.restNanos(nanos));
    }

    /** Leaves the device to others that go first; texts gather meanwhile. */
    private void rest(long nanos) {
        long until = System.nanoTime() + nanos;
        for (long left = nanos; left > 0 && !isClosed; left = until - System.nanoTime()) {
            try {
                TextRequest request = mailbox.poll(left, TimeUnit.NANOSECONDS);
                if (request != null) {
                    turns.add(request);
                }
            } catch (InterruptedException stop) {
                isClosed = true;
            }
        }
    }
}
