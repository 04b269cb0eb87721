package roselle.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import roselle.jinja.ChatTemplate;
import tools.jackson.databind.json.JsonMapper;

/** Time to render, and to compile, Llama 3.1's chat template for a chat with tools. Run from the repository's root. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class TemplateBenchmark {
    private static final String TEMPLATE = "meta-llama-Llama-3.1-8B-Instruct.jinja";
    private static final String CHAT = "tools_gen";
    private static final LocalDateTime NOW = LocalDateTime.of(2026, 7, 4, 12, 0);

    private String source = "";
    private Map<String, ?> variables = Map.of();
    private ChatTemplate template = ChatTemplate.compile("none", "");

    @Setup
    @SuppressWarnings("unchecked") // JSON objects have string keys
    public void open() throws IOException {
        Path folder = Path.of(Objects.requireNonNullElse(System.getenv("ROSELLE_SHARED_DATA"), "../shared/data"));
        source = Files.readString(folder.resolve("templates").resolve(TEMPLATE));
        template = ChatTemplate.compile(TEMPLATE, source);
        var cases = JsonMapper.shared().readValue(Files.readString(folder.resolve("templates/cases.json")), Map.class);
        variables = (Map<String, ?>) Objects.requireNonNull(cases.get(CHAT));
    }

    @Benchmark
    public String render() {
        return template.render(variables, NOW);
    }

    @Benchmark
    public ChatTemplate compile() {
        return ChatTemplate.compile(TEMPLATE, source);
    }
}
