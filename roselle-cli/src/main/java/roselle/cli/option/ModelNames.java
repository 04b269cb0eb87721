package roselle.cli.option;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import roselle.backend.UserCache;
import roselle.hub.BundledModel;
import roselle.hub.request.HubName;

/**
 * What a user writes in the place of a model: a path, the name of a model that comes with Roselle, or one on the hub.
 *
 * <p>The former name wins over a file or folder called the same in the current one; that is written {@code ./demo}. Which
 * names are the hub's, {@link HubModels#named} says.
 */
public final class ModelNames {
    private ModelNames() {}

    /** The path itself, or, for a name, where the model lies, unpacked or fetched if it has to be. */
    public static Path resolve(Path named) {
        return resolve(named, false);
    }

    /** The same, perhaps without asking the hub. */
    public static Path resolve(Path named, boolean isOffline) {
        var hub = new HubSettings(System.getenv());
        return HubModels.named(named, hub.cache())
                .map(name -> HubModels.resolve(name, hub.config(isOffline), System.err))
                .orElseGet(() -> bundled(named));
    }

    /** What a model is called: its file, its folder, or its repository with the organisation, as clients know it. */
    public static String title(Path named) {
        return HubModels.named(named, new HubSettings(System.getenv()).cache())
                .map(HubName::repository)
                .orElseGet(
                        () -> named.toAbsolutePath().normalize().getFileName().toString());
    }

    private static Path bundled(Path named) {
        if (named.isAbsolute() || named.getNameCount() != 1) {
            return named;
        }
        return BundledModel.named(named.toString())
                .map(model -> unpacked(model, cacheFolder(System.getenv())))
                .orElse(named);
    }

    /** Unpacks into the cache, or for this run alone where the cache cannot be written. */
    static Path unpacked(BundledModel model, Optional<Path> cache) {
        if (cache.isPresent()) {
            try {
                return model.unpackInto(cache.get().resolve("models"));
            } catch (IOException unwritable) {
                return unpackedForThisRun(model, unwritable);
            }
        }
        return unpackedForThisRun(model, new IOException("there is no home folder"));
    }

    private static Path unpackedForThisRun(BundledModel model, IOException reason) {
        try {
            Path folder = Files.createTempDirectory("roselle");
            folder.toFile().deleteOnExit();
            Path file = model.unpackInto(folder);
            file.toFile().deleteOnExit(); // runs before the folder's, which was asked for earlier
            return file;
        } catch (IOException unwritable) {
            unwritable.addSuppressed(reason);
            throw new UncheckedIOException(unwritable);
        }
    }

    /** Where this user's caches are; empty where there is no home folder. */
    public static Optional<Path> cacheFolder(Map<String, String> environment) {
        return UserCache.folder(environment, System.getProperty("os.name", ""));
    }
}
