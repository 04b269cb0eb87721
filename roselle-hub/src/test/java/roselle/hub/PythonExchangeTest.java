package roselle.hub;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import roselle.hub.request.HubConfig;
import roselle.hub.request.HubName;
import roselle.hub.request.PullObserver;
import roselle.hub.request.TransferOptions;
import roselle.testing.LoopbackHub;

/** Python's huggingface_hub finds what we pulled, and we find what it pulled. */
@Tag("long")
@Timeout(value = 20, unit = TimeUnit.MINUTES) // the first run makes a virtual environment
class PythonExchangeTest {
    private static final HubName NAME = HubName.parse("hf:org/name");

    @TempDir
    private Path folder = Path.of("");

    private LoopbackHub hub;
    private Path cache;

    @BeforeEach
    void start() throws IOException {
        byte[] weights = new byte[300_000];
        new Random(7).nextBytes(weights);
        cache = folder.resolve("hub");
        hub = new LoopbackHub()
                .with("config.json", "{\"model_type\":\"llama\"}")
                .with("tokenizer.json", "{}")
                .with("model.safetensors", weights);
    }

    @AfterEach
    void stop() {
        hub.close();
    }

    @Test
    void pythonFindsWhatWePulled() throws Exception {
        Path snapshot = pull();
        List<String> lines = exchange("find", "config.json", "model.safetensors");
        assertThat(lines)
                .containsExactly(
                        snapshot.toString(),
                        snapshot.resolve("config.json").toString(),
                        snapshot.resolve("model.safetensors").toString(),
                        "[]",
                        "[('org/name', 300024, ['main'])]");
    }

    @Test
    void weFindWhatPythonPulled() throws Exception {
        List<String> lines = exchange("pull");
        long sent = hub.bodyBytes();
        assertThat(Hub.cached(cache, NAME).map(Path::toString)).contains(lines.getLast());
        assertThat(pull()).hasToString(lines.getLast());
        assertThat(hub.bodyBytes()).isEqualTo(sent);
        assertThat(new CachedModels(cache).find(NAME).revisions()).containsExactly("main");
        assertThat(new CachedModels(cache).remove(NAME)).isEqualTo(300_024);
        assertThat(Hub.cached(cache, NAME)).isEmpty();
    }

    private Path pull() {
        var config = new HubConfig(hub.uri(), Optional.empty(), cache, false, TransferOptions.DEFAULT);
        try (var client = new Hub(config)) {
            return client.pull(client.plan(NAME), PullObserver.SILENT);
        }
    }

    private List<String> exchange(String action, String... paths) throws IOException, InterruptedException {
        Path tools = Path.of("../tools/hub").toAbsolutePath().normalize();
        String python =
                run(List.of(tools.resolve("python.sh").toString()), Map.of()).getLast();
        var command = new ArrayList<>(
                List.of(python, tools.resolve("exchange.py").toString(), action, cache.toString(), "org/name"));
        command.addAll(List.of(paths));
        return run(command, Map.of("HF_ENDPOINT", hub.uri().toString(), "HF_HOME", folder.toString()));
    }

    private List<String> run(List<String> command, Map<String, String> environment)
            throws IOException, InterruptedException {
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        var builder = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        if (!environment.isEmpty()) { // a client of the hub on loopback, whatever hub or proxy this user has
            builder.environment().keySet().removeIf(name -> name.startsWith("HF_") || name.endsWith("_proxy"));
            builder.environment().keySet().removeIf(name -> name.endsWith("_PROXY"));
        }
        builder.environment().putAll(environment);
        int status = builder.start().waitFor();
        assertThat(status).as(() -> read(err)).isZero();
        return Files.readAllLines(out);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            return unreadable.toString();
        }
    }
}
