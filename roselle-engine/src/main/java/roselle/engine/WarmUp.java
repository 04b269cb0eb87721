package roselle.engine;

/**
 * Whether an engine answers a few requests of its own before it is open, so that the first true one finds kernels compiled,
 * classes loaded and memory touched.
 *
 * <p>They leave no trace: not in {@link Engine#status}, not in the prefix cache, not in the flight recorder.
 */
public enum WarmUp {
    OFF,
    ON
}
