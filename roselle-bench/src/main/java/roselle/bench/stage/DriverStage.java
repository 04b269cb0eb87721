package roselle.bench.stage;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import roselle.api.InvalidRequestException;
import roselle.bench.backend.BackendException;
import roselle.bench.backend.BackendProcess;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The offline work done by another engine's library, through a small script that its own Python runs.
 *
 * <p>The script gets the prompts as ids in a file and writes the seconds of each repeat into another, so that no tokenizer
 * and no HTTP is in the measured path.
 */
public final class DriverStage {
    private static final JsonMapper MAPPER = new JsonMapper();

    /**
     * An engine's library and how it is run, with what its server would be given.
     *
     * @param name in results
     * @param profile names the driver, {@code <profile>_offline.py}
     * @param flags of the engine's server; the driver gives its library those that both take, and notes the others
     * @param environment beside this process's own
     */
    public record Library(
            String name,
            String profile,
            String python,
            String model,
            List<String> flags,
            Map<String, String> environment,
            boolean hasPrefixCache) {
        public Library {
            flags = List.copyOf(flags);
            environment = Map.copyOf(environment);
        }
    }

    private final OfflinePlan plan;
    private final PromptSource prompts;
    private final Path folder;

    /** Files of the drivers go into {@code folder}. */
    public DriverStage(OfflinePlan plan, PromptSource prompts, Path folder) {
        this.plan = plan;
        this.prompts = prompts;
        this.folder = folder;
    }

    /** Copies a script of this benchmark to where a Python can read it. */
    public static Path unpack(String script, Path folder) {
        try (InputStream source = DriverStage.class.getResourceAsStream("/roselle/bench/drivers/" + script)) {
            if (source == null) {
                throw new InvalidRequestException("there is no driver " + script);
            }
            Path file = folder.resolve(script);
            Files.copy(source, file, StandardCopyOption.REPLACE_EXISTING);
            return file;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Runs a library's driver to its end. */
    public OfflineRun run(Library library, Duration limit) throws InterruptedException {
        Path script = unpack(library.profile() + "_offline.py", folder);
        Path job = folder.resolve(library.name() + "-job.json").toAbsolutePath();
        Path result = folder.resolve(library.name() + "-result.json").toAbsolutePath();
        try {
            Files.deleteIfExists(result);
            Files.write(job, MAPPER.writeValueAsBytes(job(library)));
            BackendProcess.runToEnd(
                    List.of(library.python(), script.toAbsolutePath().toString(), job.toString(), result.toString()),
                    library.environment(),
                    limit,
                    folder.resolve(library.name() + "-offline.log"));
            return read(library.name(), MAPPER.readTree(Files.readAllBytes(result)));
        } catch (IOException | JacksonException failure) {
            throw new BackendException("its driver wrote no result: " + failure.getMessage(), failure);
        }
    }

    private Map<String, Object> job(Library library) {
        if (!plan.sampling().format().isText()) {
            throw new BackendException("the driver of its library knows no response format: measure it over HTTP");
        }
        var job = new LinkedHashMap<String, Object>();
        job.put("model", library.model());
        job.put("flags", library.flags());
        job.put("prefix_cache", library.hasPrefixCache());
        job.put("output_tokens", plan.outputTokens());
        job.put("context", plan.inputTokens() + plan.outputTokens() + 1);
        job.put("temperature", plan.sampling().temperature());
        job.put("top_p", plan.sampling().topP());
        job.put("top_k", plan.sampling().topK());
        job.put("ignore_eos", plan.sampling().ignoresEos());
        job.put("seed", plan.seed());
        job.put(
                "repeats",
                IntStream.range(-1, plan.repeats())
                        .mapToObj(repeat -> plan.prompts(prompts, repeat))
                        .toList());
        return job;
    }

    private OfflineRun read(String name, JsonNode result) {
        List<Double> seconds =
                DoubleStream.of(numbers(result.path("seconds"))).boxed().toList();
        return new OfflineRun(
                name,
                "driver",
                result.path("version").asString("unknown"),
                seconds.subList(1, seconds.size()),
                plan.prompts(),
                (long) plan.prompts() * plan.inputTokens(),
                result.path("output_tokens").asLong(0),
                Optional.empty(),
                List.of(), // its process was not watched
                result.path("ready_seconds").asDouble(0),
                result.path("note").asString(""));
    }

    private double[] numbers(JsonNode list) {
        if (list.size() != plan.repeats() + 1) {
            throw new BackendException(
                    "its driver told of " + list.size() + " repeats, not of " + (plan.repeats() + 1));
        }
        return IntStream.range(0, list.size())
                .mapToDouble(i -> list.get(i).asDouble(0))
                .toArray();
    }
}
