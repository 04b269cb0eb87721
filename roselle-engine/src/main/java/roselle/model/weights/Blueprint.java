package roselle.model.weights;

import roselle.model.spec.DecoderSpec;

/** All that a family's file knows of a checkpoint: the decoder and what its tensors are called. */
public record Blueprint(DecoderSpec spec, WeightNames names) {}
