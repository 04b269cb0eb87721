package roselle.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The guide lists every option as its command has it, and no document names one that does not exist. */
final class OptionTablesTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final String PAGE = "docs/guide/options.md";

    private static final String REWRITE = "mvn -q -Dquick -Dbuild.folder=target/quick -pl roselle-cli -am test"
            + " -Dtest=OptionTablesTest -Dsurefire.failIfNoSpecifiedTests=false -Droselle.writeOptionTables=true";

    /** Options of other programs that documents name, by program; each must be named somewhere. */
    private static final Map<String, Set<String>> OTHERS = Map.of(
            "java", Set.of("--add-modules", "--enable-native-access"),
            "jfr", Set.of("--events"),
            "hyperfine", Set.of("--warmup", "--runs"),
            "the lab of kernels (tools/cuda-lab/compile.py)", Set.of("--out"),
            "compute-sanitizer", Set.of("--tool"),
            "tools/bench/plain_client.py", Set.of("--library", "--scale"),
            "the server that roselle bench starts for transformers", Set.of("--batching"),
            "llama.cpp's server", Set.of("--cache-ram", "--no-cache-prompt"),
            "vLLM",
                    Set.of(
                            "--enable-prompt-tokens-details",
                            "--enforce-eager",
                            "--generation-config",
                            "--no-enable-prefix-caching"),
            "SGLang, TensorRT-LLM and Triton",
                    Set.of(
                            "--disable-radix-cache",
                            "--sampling-defaults",
                            "--extra_llm_api_options",
                            "--model-repository",
                            "--openai-port"));

    private final CommandSpec root = Main.commandLine(
                    Subcommand.ALL.stream().map(Subcommand::name).toArray(String[]::new))
            .getCommandSpec();
    private final Map<String, CommandSpec> commands = OptionTables.commands(root);

    @Test
    void theGuideListsOptionsAsCommandsHaveThem() throws IOException {
        Path page = ROOT.resolve(PAGE);
        String written = Files.readString(page);
        String right = OptionTables.rewritten(written, commands);
        if (Boolean.getBoolean("roselle.writeOptionTables")) {
            Files.writeString(page, right);
            written = right;
        }

        assertThat(written).as("%s; this writes it: %s", PAGE, REWRITE).isEqualTo(right);
        assertThat(OptionTables.listed(written)).containsExactlyInAnyOrderElementsOf(commands.keySet());
    }

    @Test
    void documentsNameOptionsThatExist() throws IOException {
        var others = new TreeSet<String>();
        OTHERS.values().forEach(others::addAll);
        Set<String> known = OptionTables.known(root);
        var named = new TreeSet<String>();
        var unknown = new ArrayList<String>();
        for (Path document : documents()) {
            unknown.addAll(
                    OptionTables.unknown(ROOT.relativize(document).toString(), Files.readString(document), name -> {
                        named.add(name);
                        return known.contains(name) || others.contains(name);
                    }));
        }

        assertThat(unknown).isEmpty();
        assertThat(named)
                .as("options of other programs that no document names any more")
                .containsAll(others);
        assertThat(others)
                .as("options of ours that are called another program's")
                .doesNotContainAnyElementsOf(known);
    }

    @Test
    void findsAChangedOption() {
        CommandSpec command = CommandSpec.create()
                .name("sing")
                .addOption(OptionSpec.builder("-s", "--song")
                        .paramLabel("TEXT")
                        .arity("1")
                        .defaultValue("la")
                        .description("What to sing; default: ${DEFAULT-VALUE}. Loudly.")
                        .build());
        String right = """
                Songs.
                <!-- options: sing -->
                | option | default | meaning |
                |---|---|---|
                | `-s`, `--song TEXT` | la | What to sing |
                <!-- end -->
                """;
        var sing = Map.of("sing", command);

        assertThat(OptionTables.rewritten(right, sing)).isEqualTo(right);
        assertThat(OptionTables.rewritten(right.replace("| la |", "| lo |"), sing))
                .isEqualTo(right);
        assertThat(OptionTables.rewritten(right.replace("sing -->", "hum -->"), sing))
                .contains("no command hum");
    }

    @Test
    void findsAnOptionThatDoesNotExist() {
        String text = "# Songs\nroselle sing --song la --loud, a--b and ---\n";

        assertThat(OptionTables.unknown("songs.md", text, Set.of("--song")::contains))
                .containsExactly("songs.md:2 names --loud, which no command has");
    }

    private static List<Path> documents() throws IOException {
        try (Stream<Path> below = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(
                            Stream.of(ROOT.resolve("README.md"), ROOT.resolve("CONTRIBUTING.md")),
                            below.filter(file -> file.toString().endsWith(".md")))
                    .sorted()
                    .toList();
        }
    }
}
