package roselle.server.http;

import java.util.function.Supplier;

/** Lets owners do work that takes long in turns; an engine's, so that bodies and prompts share threads and memory. */
@FunctionalInterface
public interface Turns {
    /** Does an owner's work on so many bytes when it is its turn; returns what it returns or throws what it throws. */
    <T> T take(String owner, long bytes, Supplier<T> work);

    /** Does work at once, on the thread that asks. */
    static <T> T atOnce(String owner, long bytes, Supplier<T> work) {
        return work.get();
    }
}
