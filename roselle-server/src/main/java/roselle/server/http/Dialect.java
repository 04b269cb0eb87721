package roselle.server.http;

import java.util.Optional;

/** One way to talk to the models: an API, a page, metrics. An open interface: the server takes any number of them. */
public interface Dialect {
    /** Adds what it answers. */
    void register(Routes routes);

    /** The name by which it is switched off; empty for what belongs to every server. */
    default String name() {
        return "";
    }

    /** Begins what it does beside answering, when all dialects have added their paths. */
    default void begin() {}

    /** Ends that, before the server ends. */
    default void end() {}

    /** How it speaks on its paths; empty for as the server speaks where no API is asked. */
    default Optional<Conventions> conventions() {
        return Optional.empty();
    }
}
