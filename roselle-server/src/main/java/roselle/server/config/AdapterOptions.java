package roselle.server.config;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Where adapters may be loaded from while the server runs.
 *
 * @param folder the only one, links out of it not followed; empty where none may be loaded
 */
public record AdapterOptions(Optional<Path> folder) {
    /** None may be loaded. */
    public static final AdapterOptions NONE = new AdapterOptions(Optional.empty());
}
