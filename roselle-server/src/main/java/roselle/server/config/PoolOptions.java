package roselle.server.config;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import roselle.api.InvalidRequestException;

/**
 * The models of a server that loads them when they are asked for.
 *
 * @param models all that there are, loaded or not
 * @param memory bytes that those which are loaded may take together, weights, caches and workspaces; 0 for what the machine, or the
 *     GPU, has
 * @param patience how long a request waits for its model at most
 * @param repository a folder that is read again while the server runs, whose models come on top
 * @param hostMemory bytes of the machine's memory for the weights of models that had to leave a GPU for others: they come back
 *     from there
 * @param news when streams that wait for their model say how far that is
 */
public record PoolOptions(
        List<PooledModel> models,
        long memory,
        Duration patience,
        Optional<ModelRepository> repository,
        long hostMemory,
        LoadNews news) {
    public static final Duration PATIENCE = Duration.ofMinutes(5);

    /** Models that stay the same. */
    public PoolOptions(List<PooledModel> models, long memory, Duration patience) {
        this(models, memory, patience, Optional.empty());
    }

    /** Models none of which is kept in the machine's memory. */
    public PoolOptions(List<PooledModel> models, long memory, Duration patience, Optional<ModelRepository> repository) {
        this(models, memory, patience, repository, 0, LoadNews.USUAL);
    }

    /** The same with so much of the machine's memory for models that had to leave a GPU. */
    public PoolOptions withHostMemory(long bytes) {
        return new PoolOptions(models, memory, patience, repository, bytes, news);
    }

    /** The same where streams that wait hear of it at other times. */
    public PoolOptions with(LoadNews other) {
        return new PoolOptions(models, memory, patience, repository, hostMemory, other);
    }

    public PoolOptions {
        models = List.copyOf(models);
        if (models.isEmpty() && repository.isEmpty()) {
            throw new InvalidRequestException("there is no model to serve");
        }
        var names = new HashSet<String>();
        models.stream()
                .flatMap(PooledModel::names)
                .filter(name -> !names.add(name))
                .findFirst()
                .ifPresent(twice -> {
                    throw new InvalidRequestException(
                            "two models have the name " + twice + ": give one of them another");
                });
        if (memory < 0) {
            throw new InvalidRequestException("the memory for models is " + memory + " bytes: it must be more than 0");
        }
        if (hostMemory < 0) {
            throw new InvalidRequestException("the host memory is " + hostMemory + " bytes: it must be 0 or more");
        }
        if (patience.toSeconds() < 1 || patience.toSeconds() > 86_400) {
            throw new InvalidRequestException(
                    "load timeout is " + patience.toSeconds() + " seconds: it must be between 1 and 86400");
        }
    }
}
