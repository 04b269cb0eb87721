package roselle.backend.operation;

import roselle.backend.memory.Buffer;

/**
 * Rotary position embedding (Su et al., 2021): pair {@code i} of a head turns by {@code position * inverseFrequencies[i]}.
 *
 * <p>The angle is the float32 product of both. The first {@code 2 * inverseFrequencies.elements()} numbers of a head turn
 * (the last ones of a latent head), the others stay.
 *
 * @param inverseFrequencies F32, one per pair, with any context scaling already applied
 * @param factor multiplies sine and cosine (YaRN's attention factor); 1 without scaling
 * @param interleaved whether a pair is {@code (2i, 2i + 1)}, else {@code (i, i + pairs)}
 */
public record Rope(Buffer inverseFrequencies, float factor, boolean interleaved) {}
