package roselle.backend.operation;

import roselle.backend.memory.Rows;

/**
 * A gated delta net (Yang et al., 2025) between its projections and its output.
 *
 * @param mixed what is convolved, {@code [channels]}: queries, keys, values
 * @param convolved where that goes; {@code query}, {@code key} and {@code value} are its columns
 * @param attended what the rule leaves, {@code [valueHeads, valueSize]}
 * @param heads the numbers of {@code attended} as rows of one head each
 * @param norm of a head
 * @param gates what the numbers of {@code attended} are multiplied with once {@code gate} has made gates of them
 */
public record DeltaNet(
        Rows mixed,
        Convolution convolution,
        Rows convolved,
        Rows query,
        Rows key,
        Rows value,
        Rows a,
        Rows b,
        DeltaRule rule,
        Rows attended,
        Rows heads,
        Norm norm,
        Rows gates,
        Gate gate) {}
