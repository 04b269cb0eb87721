package roselle.server.pool;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * Who hears how far a load is while a request waits for it.
 *
 * @param after how long it waits before the first word
 * @param every how long between two
 * @param told is given the model's state, on the thread that waits
 */
public record LoadListener(Duration after, Duration every, Consumer<ModelState> told) {}
