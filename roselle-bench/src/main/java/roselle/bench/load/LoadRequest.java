package roselle.bench.load;

import java.util.function.Supplier;

/**
 * A request to be sent at its moment.
 *
 * @param index in the trace
 * @param offsetNanos from the start of the run
 * @param promptTokens that the body holds
 * @param wantedTokens that it asks for
 * @param body made shortly before it is sent
 */
public record LoadRequest(int index, long offsetNanos, int promptTokens, int wantedTokens, Supplier<byte[]> body) {}
