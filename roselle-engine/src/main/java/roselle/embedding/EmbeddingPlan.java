package roselle.embedding;

/**
 * What an {@link EmbeddingEngine} takes, known before anything is loaded.
 *
 * @param totalBytes of memory in all
 * @param weightBytes of the model's tensors, as their files have them
 * @param context tokens of the longest text
 * @param machineBytes memory of the device, or of the machine where it has none of its own
 */
public record EmbeddingPlan(long totalBytes, long weightBytes, int context, long machineBytes) {
    /** Hears how an engine is opened, on the thread that opens it. */
    public interface Observer {
        /** One that does not listen. */
        Observer NONE = new Observer() {};

        /** The sizes are settled, and nothing is loaded yet. */
        default void planned(EmbeddingPlan plan) {}

        /**
         * Some weights are loaded.
         *
         * @param bytes of the model's files that are done
         */
        default void loaded(long bytes, long totalBytes) {}
    }
}
