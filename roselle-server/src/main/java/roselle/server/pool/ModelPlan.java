package roselle.server.pool;

/**
 * What a model takes, known before it is loaded.
 *
 * @param bytes of memory in all
 * @param weightBytes of its tensors
 * @param context tokens of prompt and answer together
 * @param machineBytes memory of what it would be loaded onto
 */
public record ModelPlan(long bytes, long weightBytes, int context, long machineBytes) {
    /** Of a model that nobody has looked at yet. */
    public static final ModelPlan UNKNOWN = new ModelPlan(0, 0, 0, 0);
}
