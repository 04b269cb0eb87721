package roselle.model.spec;

import org.jspecify.annotations.Nullable;

/**
 * One layer of a decoder.
 *
 * @param block how it is wired to the stream, where layers differ in that (OLMo Hybrid); null for as all are
 */
public record LayerSpec(
        AttentionSpec attention,
        FeedForwardSpec feedForward,
        @Nullable BlockSpec block) {
    /** Wired as all are. */
    public LayerSpec(AttentionSpec attention, FeedForwardSpec feedForward) {
        this(attention, feedForward, null);
    }

    public LayerSpec {
        if (block != null && (block.parallel() || block.normsSums() || block.streams() != null)) {
            throw new IllegalArgumentException("layers differ in where they normalise halves, and in nothing else");
        }
    }
}
