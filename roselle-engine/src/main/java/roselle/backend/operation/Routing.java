package roselle.backend.operation;

import roselle.backend.memory.Buffer;

/**
 * The experts chosen for each row of a step, as device memory that {@link Operations#routeExperts} fills.
 *
 * @param experts I32 {@code [maxRows, chosen]}, in the order in which they were chosen, a shared one last
 * @param weights F32 {@code [maxRows, chosen]}
 */
public record Routing(Buffer experts, Buffer weights, int chosen) {}
