package roselle.server.pool;

/**
 * What a model takes, known before it is loaded.
 *
 * @param bytes of memory in all, at most
 * @param leastBytes with which it works: its pages can go down to what it is guaranteed; {@code bytes} where they cannot
 * @param weightBytes of its tensors
 * @param context tokens of prompt and answer together
 * @param machineBytes memory of what it would be loaded onto
 */
public record ModelPlan(long bytes, long leastBytes, long weightBytes, int context, long machineBytes) {
    /** Of a model that nobody has looked at yet. */
    public static final ModelPlan UNKNOWN = new ModelPlan(0, 0, 0, 0, 0);

    /** Of a model that always takes the same. */
    public static ModelPlan fixed(long bytes, long weightBytes, int context, long machineBytes) {
        return new ModelPlan(bytes, bytes, weightBytes, context, machineBytes);
    }
}
