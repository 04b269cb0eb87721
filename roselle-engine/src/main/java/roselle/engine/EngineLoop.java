package roselle.engine;

import java.util.IdentityHashMap;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import roselle.api.CapacityException;
import roselle.api.DeviceException;
import roselle.api.FailureKind;
import roselle.batch.Batch;
import roselle.batch.Finished;
import roselle.batch.Outcome;
import roselle.batch.Sequence;
import roselle.batch.StepResult;
import roselle.engine.request.ActiveRequest;
import roselle.execution.Executor;
import roselle.execution.TokenScores;
import roselle.scheduler.Scheduler;

/**
 * The one thread that steps: takes requests from the mailbox, plans, runs the batch, and hands out its tokens.
 *
 * <p>It owns scheduler, cache and executor; others reach it through the mailbox alone and are answered through channels, to
 * which it writes without waiting. With overlap, the step after the one under way is launched before that one's tokens are
 * awaited, wherever {@link Scheduler#planAhead} finds one; where its sampling depends on those tokens, that follows when they are
 * known, while the device computes the logits. When a step throws, every request in flight fails with that message and the loop is dead:
 * a device that failed once is not trusted again.
 */
class EngineLoop implements Runnable {
    private static final int IDLE_SPINS = 200;
    private static final String KILLED = "the engine's thread has ended and must be opened again";
    static final String ASLEEP = "the model sleeps: it must be woken up first";
    private static final String NO_MEMORY = "the engine ran out of memory and must be opened again";

    /** What other threads ask of the loop. */
    sealed interface Command {
        record Submit(ActiveRequest request) implements Command {}

        record Cancel(ActiveRequest request, int choice) implements Command {}

        /** The cache is to take so many bytes. */
        record Resize(long bytes, CompletableFuture<Void> done) implements Resizing {}

        /** What is in flight fails, and the cache takes nothing until a {@link Wake}. */
        record Sleep(CompletableFuture<Void> done) implements Resizing {}

        record Wake(CompletableFuture<Void> done) implements Resizing {}
    }

    /** What changes the size of the cache; completed when that is reached. */
    sealed interface Resizing extends Command {
        CompletableFuture<Void> done();
    }

    private record Owner(ActiveRequest request, int choice) {}

    private final Scheduler scheduler;
    private final Executor executor;
    private final CacheResizer resizer;
    private final EngineProbe probe;
    private final boolean overlaps;
    private final Function<Throwable, String> diagnosis;
    private final Queue<Command> mailbox = new ConcurrentLinkedQueue<>();
    private final IdentityHashMap<Sequence, Owner> owners = new IdentityHashMap<>();
    private final Consumer<Finished> reporter = this::reportEnd; // once, not for each step
    private final StepRecorder recorder = new StepRecorder();
    private boolean sampleAwaitsTokens; // of the step ahead
    private final Thread thread;
    private volatile boolean isParked;
    private volatile boolean isClosing;
    private volatile @Nullable String death;

    EngineLoop(LoopParts parts, boolean overlaps, Function<Throwable, String> diagnosis) {
        this.overlaps = overlaps;
        this.diagnosis = diagnosis;
        scheduler = parts.scheduler();
        executor = parts.executor();
        resizer = parts.resizer();
        probe = parts.probe();
        thread = Thread.ofPlatform().name("roselle-engine").daemon(true).unstarted(this);
    }

    void start() {
        thread.start();
    }

    /** Leaves a command and wakes the loop; any thread. */
    void post(Command command) {
        mailbox.add(command);
        if (isParked) {
            LockSupport.unpark(thread);
        }
    }

    /** Why the loop ended, or null while it runs. */
    @Nullable
    String death() {
        boolean hasEnded = thread.getState() == Thread.State.TERMINATED; // first: a thread says why before it ends
        String said = death;
        return said == null && hasEnded ? KILLED : said;
    }

    /** Ends the loop: what is in flight fails, saying so; returns when the thread has ended. */
    void close() {
        isClosing = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException interruption) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void run() {
        try {
            while (!isClosing) {
                if (!step()) {
                    idle();
                }
            }
            executor.settle();
            die("the engine was closed");
        } catch (Throwable failure) {
            end(failure);
        }
        drainMailbox();
    }

    /** Tells why, with what memory there is: where telling fails for want of it, everybody hears a sentence that takes none. */
    private void end(Throwable failure) {
        try {
            die(reason(failure)); // at once with the reason: who asks meanwhile is told nothing else
            System.getLogger(EngineLoop.class.getName()).log(System.Logger.Level.ERROR, "event=engine_failed", failure);
        } catch (OutOfMemoryError again) {
            die(NO_MEMORY);
        }
    }

    /** Whatever a diagnosis comes to, nobody may wait for a dead loop. */
    private String reason(Throwable failure) {
        try {
            return "the engine failed and must be opened again: " + diagnosis.apply(failure);
        } catch (Throwable again) {
            return failure instanceof OutOfMemoryError || again instanceof OutOfMemoryError ? NO_MEMORY : KILLED;
        }
    }

    /** One turn; returns whether there was anything to do. */
    boolean step() {
        probe.turnBegins(System.nanoTime());
        boolean received = receive();
        boolean resized = proceed();
        long begin = recorder.begin();
        if (!scheduler.isStepUnderWay() && (!resizer.isAwake() || !launch())) {
            probe.idle(scheduler);
            reportEnded();
            return received || resized;
        }
        Batch batch = scheduler.stepUnderWay();
        if (mayGoAhead() && resizer.isAwake()) {
            launchAhead();
        }
        finish(batch, begin);
        return true;
    }

    /** Goes on with the cache's size; who hoped that the engine would wake hears where it cannot. */
    private boolean proceed() {
        boolean wasToBeAwake = !resizer.sleeps();
        boolean resized = resizer.proceed();
        if (wasToBeAwake && resizer.sleeps()) {
            failAll();
        }
        return resized;
    }

    /** Whether the step after the one under way may be launched before that one's tokens are known. */
    boolean mayGoAhead() {
        return overlaps && executor.mayGoAhead();
    }

    /** Plans a step and starts it, if there is anything to do. */
    private boolean launch() {
        Batch batch = scheduler.plan(System.nanoTime());
        if (batch.isEmpty()) {
            return false;
        }
        recorder.planned();
        executor.forward(batch);
        executor.launchSample(batch);
        recorder.forwarded();
        return true;
    }

    /** Plans the step after the one under way and starts it; its sampling may have to wait for the tokens of that one. */
    private void launchAhead() {
        Batch ahead = scheduler.planAhead(System.nanoTime());
        recorder.plannedAhead();
        if (ahead.isEmpty()) {
            return;
        }
        executor.forward(ahead);
        sampleAwaitsTokens = executor.samplesByTokensUnderWay(ahead);
        if (!sampleAwaitsTokens) {
            executor.launchSample(ahead);
        }
        recorder.forwardedAhead();
    }

    /** The status comes before the events: who has read an event never sees a status that does not know of it. */
    private void finish(Batch batch, long begin) {
        StepResult result = executor.collectSample(batch);
        recorder.sampled();
        takePrompts(batch);
        scheduler.stepTook(System.nanoTime() - begin);
        scheduler.commit(result);
        if (sampleAwaitsTokens) {
            sampleAwaitsTokens = false;
            executor.launchSample(scheduler.stepUnderWay()); // first: the device may be waiting for it
        }
        EngineStatus status = probe.stepped(scheduler, batch.totalRows(), System.nanoTime() - begin);
        publish(batch, result);
        reportEnded();
        recorder.end(scheduler, status, batch);
    }

    private boolean receive() {
        boolean received = false;
        for (Command command = mailbox.poll(); command != null; command = mailbox.poll()) {
            received = true;
            switch (command) {
                case Command.Submit submit -> startNext(submit.request());
                case Command.Cancel cancel -> cancel(cancel.request(), cancel.choice());
                case Command.Resize resize -> resizer.want(resize.bytes(), resize.done());
                case Command.Sleep sleep -> {
                    failAll();
                    resizer.sleep(sleep.done());
                }
                case Command.Wake wake -> resizer.wake(wake.done());
            }
        }
        return received;
    }

    /** Ends what is in flight; a step that is under way is committed as ever. */
    private void failAll() {
        for (ActiveRequest request :
                owners.values().stream().map(Owner::request).distinct().toList()) {
            request.fail(FailureKind.CAPACITY, ASLEEP);
            cancel(request, Generation.Canceller.ALL);
        }
    }

    private void startNext(ActiveRequest request) {
        if (resizer.sleeps()) {
            request.fail(FailureKind.CAPACITY, ASLEEP);
            return;
        }
        if (!request.hasMoreToStart()) {
            return;
        }
        int choice = request.nextChoice();
        var waiting = request.startNext();
        owners.put(waiting.sequence(), new Owner(request, choice)); // first: whatever fails, the request hears of it
        try {
            scheduler.submit(waiting);
        } catch (CapacityException refused) {
            owners.remove(waiting.sequence());
            waiting.finish(new Outcome.Cancelled()); // the scheduler never had it
            request.fail(FailureKind.CAPACITY, String.valueOf(refused.getMessage()));
            cancel(request, Generation.Canceller.ALL);
        }
    }

    private void cancel(ActiveRequest request, int choice) {
        for (int each = 0; each < request.choiceCount(); each++) {
            if (choice != Generation.Canceller.ALL && choice != each) {
                continue;
            }
            if (request.isStarted(each)) {
                scheduler.cancel(request.sequence(each));
            } else {
                request.cancelUnstarted(each, System.nanoTime());
            }
        }
    }

    private void takePrompts(Batch batch) {
        for (int entry = 0; entry < batch.size(); entry++) {
            if (batch.isDropped(entry)) {
                continue;
            }
            if (batch.sequence(entry).plan().embedsPrompt) {
                ActiveRequest request = owner(batch.sequence(entry)).request();
                executor.addStates(batch, entry, request.promptEmbedding(executor.width()));
            } else if (batch.promptOutputs(entry) > 0) {
                Owner owner = owner(batch.sequence(entry));
                String failure =
                        executor.scorePrompt(batch, entry, owner.request().promptScores());
                if (failure != null) {
                    owner.request().fail(FailureKind.INTERNAL, failure);
                    cancel(owner.request(), Generation.Canceller.ALL);
                }
            }
        }
    }

    private void publish(Batch batch, StepResult result) {
        long now = System.nanoTime();
        for (int entry = 0; entry < batch.size(); entry++) {
            int appended = batch.appended(entry);
            if (appended == 0) {
                continue;
            }
            Sequence sequence = batch.sequence(entry);
            Owner owner = owner(sequence);
            owner.request().tellPrompt();
            for (int index = 0; index < appended; index++) {
                int id = sequence.ids()[sequence.length() - appended + index];
                TokenScores scores = index < result.count(entry) ? executor.scores(entry, index) : null; // else forced
                owner.request().tellToken(owner.choice(), id, scores, now);
            }
            startSiblings(owner);
        }
    }

    private void startSiblings(Owner owner) {
        while (owner.choice() == 0 && owner.request().hasMoreToStart()) {
            startNext(owner.request());
        }
    }

    private Owner owner(Sequence sequence) {
        Owner owner = owners.get(sequence);
        if (owner == null) {
            throw new IllegalStateException("sequence " + sequence.id() + " belongs to no request");
        }
        return owner;
    }

    private void reportEnded() {
        scheduler.drainEnded(reporter);
    }

    private void reportEnd(Finished finished) {
        Owner owner = owners.remove(finished.sequence());
        if (owner == null) {
            return;
        }
        Outcome outcome = finished.outcome();
        owner.request().tellEnd(owner.choice(), outcome, System.nanoTime());
        startSiblings(owner);
        if (outcome instanceof Outcome.Failed) {
            cancel(owner.request(), Generation.Canceller.ALL);
        }
    }

    private void idle() {
        for (int spin = 0; spin < IDLE_SPINS; spin++) {
            if (!mailbox.isEmpty() || isClosing) {
                return;
            }
            Thread.onSpinWait();
        }
        probe.rests();
        isParked = true;
        while (mailbox.isEmpty() && !isClosing) {
            LockSupport.park(this);
        }
        isParked = false;
    }

    /** Tells everybody first: what failed may have left the scheduler in a state that it will not be ended in. */
    private void die(String message) {
        death = message;
        resizer.fail(new DeviceException(message));
        for (Owner owner : owners.values()) {
            owner.request().fail(FailureKind.INTERNAL, message);
        }
        owners.clear();
        drainMailbox();
        scheduler.failAll(FailureKind.INTERNAL, message);
        reportEnded();
        probe.idle(scheduler);
        probe.rests();
    }

    /** A request that was posted while the loop ended must hear of it; each is taken from the mailbox by one thread only. */
    private void drainMailbox() {
        for (Command command = mailbox.poll(); command != null; command = mailbox.poll()) {
            String message = String.valueOf(death);
            switch (command) {
                case Command.Submit submit -> submit.request().fail(FailureKind.INTERNAL, message);
                case Resizing resizing -> resizing.done().completeExceptionally(new DeviceException(message));
                case Command.Cancel _ -> {}
            }
        }
    }

    /** Fails a request that came too late for {@link #drainMailbox}. */
    void refuseIfDead() {
        if (death != null) {
            drainMailbox();
        }
    }
}
