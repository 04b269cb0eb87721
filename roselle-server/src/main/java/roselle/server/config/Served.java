package roselle.server.config;

import java.time.Instant;

/** What a server answers with under a name: a model that generates, or an encoder. */
public sealed interface Served permits ServedModel, ServedEncoder {
    /** What clients call it. */
    String name();

    /** When it was opened. */
    Instant created();

    /** Tokens of the longest prompt and answer together, or of the longest text. */
    int context();
}
