package roselle.model.spec;

/** One layer of a decoder. */
public record LayerSpec(AttentionSpec attention, FeedForwardSpec feedForward) {}
