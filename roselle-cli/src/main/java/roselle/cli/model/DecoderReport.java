package roselle.cli.model;

import java.util.List;
import java.util.Optional;
import roselle.api.CheckpointException;
import roselle.backend.memory.KvGroup;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.summary.ModelSummary;
import roselle.model.architecture.Architectures;
import roselle.model.spec.DecoderSpec;
import roselle.quantization.Quantization;

/**
 * Whether Roselle can run a model, and the cache of keys and values that its decoder needs.
 *
 * @param quantization how matrices are stored, where their types do not tell all
 * @param refusal why it cannot; empty where it can
 * @param groups the layers by the pages they need; empty where it cannot, and of encoders, which keep nothing
 * @param context tokens of the longest sequence; 0 where it cannot
 */
record DecoderReport(Optional<String> quantization, Optional<String> refusal, List<KvGroup> groups, int context) {
    static DecoderReport of(Checkpoint checkpoint) {
        try {
            DecoderSpec spec = Architectures.readAny(checkpoint).spec();
            List<KvGroup> kept = spec.generates() ? spec.kvGroups() : List.of();
            return new DecoderReport(Quantization.of(checkpoint).description(), Optional.empty(), kept, spec.context());
        } catch (CheckpointException unsupported) {
            return new DecoderReport(
                    Optional.empty(), Optional.of(String.valueOf(unsupported.getMessage())), List.of(), 0);
        }
    }

    boolean isSupported() {
        return refusal.isEmpty();
    }

    long bytesPerToken() {
        return groups.stream().mapToLong(DecoderReport::bytesPerToken).sum();
    }

    static long bytesPerToken(KvGroup group) {
        return group.elementsPerToken() * ModelSummary.KV_ELEMENT_BYTES;
    }

    /** Bytes for one sequence of full length; layers with a window keep no more than the window, and a state is as large as ever. */
    double bytesForContext() {
        return groups.stream()
                .mapToDouble(group ->
                        group.isState() ? stateBytes(group) : (double) bytesPerToken(group) * keptTokens(group))
                .sum();
    }

    /** Bytes of the states that a sequence goes on from, however long it is. */
    long stateBytes() {
        return groups.stream().mapToLong(DecoderReport::stateBytes).sum();
    }

    static long stateBytes(KvGroup group) {
        return group.isState() ? (long) group.layers() * group.stateSize() * Float.BYTES : 0;
    }

    private int keptTokens(KvGroup group) {
        return group.window() == 0 ? context : Math.min(group.window(), context);
    }
}
