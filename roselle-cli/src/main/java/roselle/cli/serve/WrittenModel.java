package roselle.cli.serve;

import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import roselle.cli.option.ModelNames;
import roselle.engine.EngineConfig;
import roselle.server.config.PooledModel.Memory;

/**
 * A model by its name, as somebody wrote it down.
 *
 * @param keepAlive empty for that of all models
 * @param adjustment what of the engine's configuration is its own
 */
record WrittenModel(
        String name,
        Path path,
        boolean isPinned,
        String keepAlive,
        List<String> aliases,
        Memory memory,
        UnaryOperator<EngineConfig> adjustment) {
    /** A model of a path, about which nothing more was written. */
    static WrittenModel of(Path path) {
        return new WrittenModel(
                ModelNames.title(path), path, false, "", List.of(), Memory.USUAL, UnaryOperator.identity());
    }
}
