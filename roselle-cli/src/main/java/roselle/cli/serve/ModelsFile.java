package roselle.cli.serve;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import roselle.api.InvalidRequestException;
import roselle.cli.option.TextInput;
import roselle.cli.report.ByteSize;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.server.config.PooledModel.Memory;

/**
 * A file of models: lines of {@code NAME = MODEL}, behind it settings of that model such as {@code pin}, {@code alias=NAME} and
 * {@code context=4096}. Those of an engine have the names of the options that hold for all models, and come before them.
 */
final class ModelsFile {
    private static final Pattern SETTING = Pattern.compile(
            "pin|(keep-alive|alias|guarantee|share|context|max-sequences|kv-type|kv-memory|tool-parser)=.+");
    private static final int MOST_BYTES = 1 << 20;

    private boolean isPinned;
    private String keepAlive = "";
    private Memory memory = Memory.USUAL;
    private final List<String> aliases = new ArrayList<>();
    private final List<Setting> settings = new ArrayList<>();

    private ModelsFile() {}

    /** What a word says of an engine. */
    private record Setting(String name, String value) {}

    static List<WrittenModel> read(Path file) {
        List<String> lines = TextInput.ofFile(file, MOST_BYTES, ": it is no list of models")
                .lines()
                .toList();
        var found = new ArrayList<WrittenModel>();
        for (int line = 0; line < lines.size(); line++) {
            String text = lines.get(line).strip();
            if (!text.isEmpty() && !text.startsWith("#")) {
                found.add(new ModelsFile().model(text, file, line + 1));
            }
        }
        return found;
    }

    private WrittenModel model(String line, Path file, int number) {
        int equals = line.indexOf('=');
        String name = equals < 0 ? "" : line.substring(0, equals).strip();
        var words = new ArrayList<>(List.of(line.substring(equals + 1).strip().split("\\s+")));
        while (words.size() > 1 && SETTING.matcher(words.getLast()).matches()) {
            set(words.removeLast());
        }
        String model = String.join(" ", words);
        if (name.isEmpty() || model.isEmpty()) {
            throw new InvalidRequestException(file + ", line " + number + " is not NAME = MODEL");
        }
        adjusted(EngineConfig.of(file)); // what is wrong is told at the start, not by the first request
        Path path = file.toAbsolutePath().resolveSibling(model);
        return new WrittenModel(
                name,
                Files.exists(path) ? path : Path.of(model),
                isPinned,
                keepAlive,
                aliases.reversed(),
                memory,
                this::adjusted);
    }

    private void set(String word) {
        String value = word.substring(word.indexOf('=') + 1);
        String name = word.equals(value) ? word : word.substring(0, word.indexOf('='));
        switch (name) {
            case "pin" -> isPinned = true;
            case "keep-alive" -> keepAlive = value;
            case "alias" -> aliases.add(value);
            case "guarantee" -> memory = new Memory(new ByteSize().convert(value), memory.share());
            case "share" -> memory = new Memory(memory.guarantee(), share(value));
            default -> settings.add(new Setting(name, value));
        }
    }

    private EngineConfig adjusted(EngineConfig config) {
        EngineConfig adjusted = config;
        for (Setting setting : settings) {
            adjusted = adjusted(adjusted, setting.name(), setting.value());
        }
        return adjusted;
    }

    private static EngineConfig adjusted(EngineConfig config, String name, String value) {
        CacheOptions cache = config.cache();
        BatchOptions batch = config.batch();
        return switch (name) {
            case "context" -> config.with(sized(batch, number(name, value), batch.maxSequences()));
            case "max-sequences" -> config.with(sized(batch, batch.context(), number(name, value)));
            case "kv-type" -> config.with(stored(cache, value, cache.kvMemory()));
            case "kv-memory" -> config.with(stored(cache, cache.kvType(), new ByteSize().convert(value)));
            case "tool-parser" -> config.withToolParser(value);
            default -> throw new IllegalStateException(name);
        };
    }

    private static BatchOptions sized(BatchOptions batch, int context, int sequences) {
        return new BatchOptions(context, sequences, batch.stepTokens(), batch.chunkTokens(), batch.maxQueue());
    }

    private static CacheOptions stored(CacheOptions cache, String type, long bytes) {
        return new CacheOptions(
                type, bytes, cache.pageTokens(), cache.prefixCache(), cache.sharesAcrossKeys(), cache.checkpoints());
    }

    private static int number(String name, String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException wrong) {
            throw new InvalidRequestException(name + " is " + text + ": it must be a number such as 4096", wrong);
        }
    }

    private static double share(String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException wrong) {
            throw new InvalidRequestException("share is " + text + ": it must be a number such as 0.5 or 3", wrong);
        }
    }
}
