package roselle.model;

/** One layer of a decoder. */
public record LayerSpec(AttentionSpec attention, FeedForwardSpec feedForward) {}
