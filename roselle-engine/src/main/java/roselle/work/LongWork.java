package roselle.work;

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
import org.jspecify.annotations.Nullable;

/**
 * Work on long texts and bodies, on threads of its own, a few at a time, so that neither engines nor requests wait for it.
 *
 * <p>Requests run on virtual threads, which give way to each other only where they wait: one that computes holds a core from all
 * others. So what takes long runs on a platform thread, which the system interrupts. Only {@code places} of them run at a time; after
 * each slice one gives its place to the key that has had least, if another waits. A key's work comes one after the other, so there
 * are no more threads than keys.
 *
 * <p>What has begun keeps what it has made so far while others have its place. So no more characters than {@code mostBegun} are
 * begun at a time, or one work alone, which may have more.
 */
public final class LongWork {
    /** Characters that take a millisecond or a few. */
    private static final int SLICE = 16 << 10;

    /** What work on a character may keep, with some room: symbols of a text that has no words, values of JSON. */
    private static final int BYTES_OF_CHARACTER = 16;

    private final ReentrantLock lock = new ReentrantLock();
    private final List<Job> waiting = new ArrayList<>(); // by arrival
    private final Map<String, Share> shares = new HashMap<>(); // of keys that have a job
    private final long mostBegun; // characters
    private long begun;
    private int places;
    private long floor; // what the key with least had

    /** So many works at a time, and as many characters of works that have begun. */
    public LongWork(int places, long mostBegun) {
        this.places = places;
        this.mostBegun = mostBegun;
    }

    /** One place for every four processors, so that requests and steps have the others. */
    public static LongWork ofThisMachine() {
        Runtime machine = Runtime.getRuntime();
        return new LongWork(
                Math.max(1, machine.availableProcessors() / 4), machine.maxMemory() / 2 / BYTES_OF_CHARACTER);
    }

    private static final class Share {
        long had; // characters
        int jobs;
    }

    /** One work; its own thread, and before that the caller's, calls it. */
    public final class Job {
        private final String key;
        private final long characters;
        private final Share share;
        private final Condition turn = lock.newCondition();
        private boolean hasBegun;
        private boolean hasPlace;
        private volatile boolean isAbandoned;
        private int sinceTurn;

        private Job(String key, long characters, Share share) {
            this.key = key;
            this.characters = characters;
            this.share = share;
        }

        /** So many characters are done: now and then another key may go on. */
        public void advance(int done) {
            sinceTurn += done;
            if (sinceTurn < SLICE) {
                return;
            }
            if (isAbandoned) {
                throw new CancellationException("nobody waits for this any more");
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
     * @param characters that it works on
     * @throws CancellationException if the calling thread is interrupted
     */
    public <T> T run(String key, long characters, Function<Job, T> work) {
        Job job = enter(key, characters);
        try {
            return call(job, new FutureTask<>(() -> work.apply(job)));
        } finally {
            leave(job);
        }
    }

    private static <T> T call(Job job, FutureTask<T> task) {
        Thread.ofPlatform().name("roselle-long").daemon(true).start(task);
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

    /** Works whose turn it is not. */
    int waiting() {
        lock.lock();
        try {
            return waiting.size();
        } finally {
            lock.unlock();
        }
    }

    private Job enter(String key, long characters) {
        lock.lock();
        try {
            Share share = shares.computeIfAbsent(key, _ -> new Share());
            share.had = share.jobs++ == 0 ? floor : share.had;
            var job = new Job(key, characters, share);
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
        for (Job next = next(); places > 0 && next != null; next = next()) {
            floor = Math.max(floor, next.share.had);
            begun += next.hasBegun ? 0 : next.characters;
            next.hasBegun = true;
            waiting.remove(next);
            places--;
            next.hasPlace = true;
            next.turn.signal();
        }
    }

    /** The first of the key that has had least, of those that have begun or may begin. */
    private @Nullable Job next() {
        Job next = null;
        for (Job each : waiting) {
            if (mayGoOn(each) && (next == null || each.share.had < next.share.had)) {
                next = each;
            }
        }
        return next;
    }

    private boolean mayGoOn(Job job) {
        return job.hasBegun || begun == 0 || begun + job.characters <= mostBegun;
    }

    private void leave(Job job) {
        lock.lock();
        try {
            places++;
            begun -= job.characters;
            if (--job.share.jobs == 0) {
                shares.remove(job.key);
            }
            passOn();
        } finally {
            lock.unlock();
        }
    }
}
