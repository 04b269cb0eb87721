package roselle.engine.prompt;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * Work on long texts, on threads of its own, a few at a time, so that neither the engine nor requests wait for it.
 *
 * <p>Requests run on virtual threads, which give way to each other only where they wait: one that computes holds a core from all
 * others. So what takes long runs on a platform thread, which the system interrupts. Only {@code places} of them run at a time; after
 * each slice one gives its place to the key that has had least, if another waits. A key's texts come one after the other, so there
 * are no more threads than keys.
 */
public final class LongPrompts {
    /** Characters that take a millisecond or a few. */
    private static final int SLICE = 16 << 10;

    private final ReentrantLock lock = new ReentrantLock();
    private final List<Job> waiting = new ArrayList<>(); // by arrival
    private final Map<String, Share> shares = new HashMap<>(); // of keys that have a job
    private int places;
    private long floor; // what the key with least had

    LongPrompts(int places) {
        this.places = places;
    }

    /** One for every four processors, so that requests and steps have the others. */
    public static LongPrompts forProcessors(int processors) {
        return new LongPrompts(Math.max(1, processors / 4));
    }

    private static final class Share {
        long had; // characters
        int jobs;
    }

    /** One text's work; its own thread, and before that the caller's, calls it. */
    public final class Job {
        private final String key;
        private final Share share;
        private final Condition turn = lock.newCondition();
        private boolean hasPlace;
        private volatile boolean isAbandoned;
        private int sinceTurn;

        private Job(String key, Share share) {
            this.key = key;
            this.share = share;
        }

        /** So many characters are done: now and then another key may go on. */
        void advance(int characters) {
            sinceTurn += characters;
            if (sinceTurn < SLICE) {
                return;
            }
            if (isAbandoned) {
                throw new CancellationException("nobody waits for this text any more");
            }
            lock.lock();
            try {
                share.had += sinceTurn;
                sinceTurn = 0;
                giveWay(this);
            } finally {
                lock.unlock();
            }
        }
    }

    /**
     * Does a key's work when it is its turn, and returns what it returns or throws what it throws.
     *
     * @throws CancellationException if the calling thread is interrupted
     */
    public <T> T run(String key, Function<Job, T> work) {
        Job job = enter(key);
        try {
            return call(job, new FutureTask<>(() -> work.apply(job)));
        } finally {
            leave(job);
        }
    }

    private static <T> T call(Job job, FutureTask<T> task) {
        Thread.ofPlatform().name("roselle-prompt").daemon(true).start(task);
        try {
            while (true) {
                try {
                    return task.get();
                } catch (InterruptedException interruption) {
                    job.isAbandoned = true; // it ends at its next slice, and has its place until then
                }
            }
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof Error error) {
                throw error;
            }
            throw failed.getCause() instanceof RuntimeException known ? known : new IllegalStateException(failed);
        } finally {
            if (job.isAbandoned) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Texts whose turn it is not. */
    int waiting() {
        lock.lock();
        try {
            return waiting.size();
        } finally {
            lock.unlock();
        }
    }

    private Job enter(String key) {
        lock.lock();
        try {
            Share share = shares.computeIfAbsent(key, _ -> new Share());
            share.had = share.jobs++ == 0 ? floor : share.had;
            var job = new Job(key, share);
            waiting.add(job);
            passOn();
            await(job);
            return job;
        } finally {
            lock.unlock();
        }
    }

    private void giveWay(Job job) {
        if (waiting.isEmpty()) {
            return;
        }
        int at = 0; // before those of its key that have not begun
        while (at < waiting.size() && waiting.get(at).share != job.share) {
            at++;
        }
        waiting.add(at, job);
        job.hasPlace = false;
        places++;
        passOn();
        await(job);
    }

    /** Not interruptibly: what is interrupted is abandoned, and ends at its next slice. */
    private static void await(Job job) {
        while (!job.hasPlace) {
            job.turn.awaitUninterruptibly();
        }
    }

    private void passOn() {
        while (places > 0 && !waiting.isEmpty()) {
            Job next = waiting.getFirst();
            for (Job each : waiting) {
                next = each.share.had < next.share.had ? each : next;
            }
            floor = Math.max(floor, next.share.had);
            waiting.remove(next);
            places--;
            next.hasPlace = true;
            next.turn.signal();
        }
    }

    private void leave(Job job) {
        lock.lock();
        try {
            places++;
            if (--job.share.jobs == 0) {
                shares.remove(job.key);
            }
            passOn();
        } finally {
            lock.unlock();
        }
    }
}
