package roselle.engine;

import roselle.structured.Rehearsal;

/** What the JVM can load and compile before there is a model, for a thread beside the one that opens it. */
public final class Warming {
    private Warming() {}

    /**
     * Follows answers of every form that nobody asked for, over tokens that no model has: the first request with a response format then
     * waits for little more than a later one. Takes about two seconds of a thread's time, and is never needed.
     */
    public static void responseFormats() {
        Rehearsal.followWithoutModel();
    }
}
