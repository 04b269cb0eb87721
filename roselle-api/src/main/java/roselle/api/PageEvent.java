package roselle.api;

import java.util.List;
import java.util.Optional;

/**
 * What became of a page in an engine's prefix cache: later prompts that begin like it may find it from now on, or do no
 * more. Pages are full; one stored below another continues its tokens.
 */
public sealed interface PageEvent {
    /** The pages that nobody was told of in between, because the reader did not keep up: it knows nothing any more. */
    record Lost() implements PageEvent {}

    /**
     * Can be found.
     *
     * @param page its number, which no other page of the engine has or gets
     * @param parent the page that it continues, 0 for the beginning of prompts
     * @param tokens as many ids as a page holds
     * @param scope who finds it; empty for a page below another, which has that one's
     */
    record Stored(long page, long parent, List<Integer> tokens, Optional<Scope> scope) implements PageEvent {
        public Stored {
            tokens = List.copyOf(tokens);
        }
    }

    /** Cannot be found any more. */
    record Removed(long page) implements PageEvent {}

    /**
     * Who finds a page.
     *
     * @param key the key of the requests ({@link SchedulingOptions#key}); empty where all keys share
     * @param salt of the requests ({@link SchedulingOptions#cacheSalt}); empty for none
     * @param adapter the SHA-256 of the adapter's files ({@link LoadedAdapter#digest}); empty for none
     */
    record Scope(String key, String salt, String adapter) {}
}
