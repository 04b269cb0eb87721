package roselle.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import roselle.api.InvalidRequestException;
import roselle.engine.EngineConfig;
import roselle.server.config.ModelRepository;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;

/** Which models a server has, as options, folders and files say. */
final class PoolFlagsTest {
    @TempDir
    private Path folder;

    private static PoolOptions options(List<Path> models, String... options) {
        return CommandLine.populateCommand(new PoolFlags(), options).options(models, EngineConfig::of);
    }

    private static List<String> names(PoolOptions options) {
        return options.models().stream().map(PooledModel::name).toList();
    }

    @Test
    void isForSeveralModelsOrWhereAnOptionSaysSo() {
        assertThat(new PoolFlags().isPool(1)).isFalse();
        assertThat(new PoolFlags().isPool(2)).isTrue();
        for (String option : List.of(
                "--models=x", "--model-memory=1G", "--keep-alive=5m", "--pin=x", "--alias=x=y", "--load-timeout=5")) {
            assertThat(CommandLine.populateCommand(new PoolFlags(), option).isPool(1))
                    .as(option)
                    .isTrue();
        }
    }

    @Test
    void takesModelsByTheirNames() {
        PoolOptions options = options(List.of(Path.of("x.gguf"), Path.of("y")), "--pin=y", "--alias=z=y,w=x.gguf");

        assertThat(names(options)).containsExactly("x.gguf", "y");
        assertThat(options.models()).extracting(PooledModel::isPinned).containsExactly(false, true);
        assertThat(options.models()).extracting(PooledModel::aliases).containsExactly(List.of("w"), List.of("z"));
        assertThat(options.memory()).isZero();
        assertThat(options.patience()).isEqualTo(PoolOptions.PATIENCE);
    }

    @Test
    void takesTheModelsOfAFolder() throws IOException {
        for (String file : List.of("b.gguf", "a-00001-of-00002.gguf", "a-00002-of-00002.gguf", "notes.txt")) {
            Files.createFile(folder.resolve(file));
        }
        Files.createFile(Files.createDirectory(folder.resolve("c")).resolve("config.json"));
        Files.createDirectory(folder.resolve("d"));

        assertThat(names(options(List.of(), "--models=" + folder)))
                .containsExactly("a-00001-of-00002.gguf", "b.gguf", "c");
    }

    @Test
    void readsAFolderAgainThatIsControlled() throws IOException {
        PoolOptions options = options(
                List.of(),
                "--models=" + folder,
                "--model-control=POLL",
                "--poll-seconds=3",
                "--pin=late",
                "--alias=x=late");

        assertThat(options.models()).isEmpty();
        ModelRepository repository = options.repository().orElseThrow();
        assertThat(repository.interval()).isEqualTo(Duration.ofSeconds(3));
        PooledModel late = repository.reading().apply(folder.resolve("late"));
        assertThat(late.isPinned()).isTrue();
        assertThat(late.aliases()).containsExactly("x");
        assertThatThrownBy(() -> options(List.of(Path.of("x")), "--model-control=EXPLICIT"))
                .hasMessageContaining("it goes with --models FOLDER");
        assertThatThrownBy(() -> options(List.of(), "--models=" + folder, "--model-control=POLL", "--poll-seconds=0"))
                .isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void refusesAFolderWithoutModels() {
        assertThatThrownBy(() -> options(List.of(), "--models=" + folder))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("which has no .gguf");
    }

    @Test
    void takesTheModelsOfAFile() throws IOException {
        Files.createFile(folder.resolve("my model.gguf"));
        Path file = Files.writeString(folder.resolve("models"), """
                # what we have
                small = my model.gguf pin alias=s alias=tiny

                large = other.gguf keep-alive=5m guarantee=2G share=2.5
                """);

        PoolOptions options = options(List.of(), "--models=" + file, "--keep-alive=90s");

        assertThat(names(options)).containsExactly("small", "large");
        assertThat(options.models()).extracting(PooledModel::aliases).containsExactly(List.of("s", "tiny"), List.of());
        assertThat(options.models()).extracting(PooledModel::isPinned).containsExactly(true, false);
        assertThat(options.models())
                .extracting(PooledModel::keepAlive)
                .containsExactly(Duration.ofSeconds(90), Duration.ofMinutes(5));
        assertThat(options.models())
                .extracting(PooledModel::memory)
                .containsExactly(PooledModel.Memory.USUAL, new PooledModel.Memory(2L << 30, 2.5));
        assertThat(options.models().getFirst().engine().model()).isEqualTo(folder.resolve("my model.gguf"));
        assertThat(options.models().getLast().engine().model()).isEqualTo(Path.of("other.gguf"));
    }

    @Test
    void modelsOfAFileMayHaveSizesOfTheirOwn() throws IOException {
        Path file = Files.writeString(folder.resolve("models"), """
                small = s.gguf context=512 max-sequences=8 kv-type=f32 kv-memory=16M tool-parser=hermes pin
                large = l.gguf
                """);

        List<EngineConfig> engines = options(List.of(), "--models=" + file).models().stream()
                .map(PooledModel::engine)
                .toList();

        assertThat(engines.getFirst().batch().context()).isEqualTo(512);
        assertThat(engines.getFirst().batch().maxSequences()).isEqualTo(8);
        assertThat(engines.getFirst().cache().kvType()).isEqualTo("f32");
        assertThat(engines.getFirst().cache().kvMemory()).isEqualTo(16L << 20);
        assertThat(engines.getFirst().toolParser()).isEqualTo("hermes");
        assertThat(engines.getLast()).isEqualTo(EngineConfig.of(Path.of("l.gguf")));
    }

    @Test
    void aFolderWithoutWhatIsPinnedOrNamedOtherwiseIsRefused() throws IOException {
        Files.createFile(folder.resolve("a.gguf"));

        assertThatThrownBy(() -> options(List.of(), "--models=" + folder, "--pin=late"))
                .hasMessage("pin names late, which is no model: there are a.gguf");
        assertThatThrownBy(() -> options(List.of(), "--models=" + folder, "--alias=x=late"))
                .hasMessageContaining("alias names late");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a = x context=much", "a = x context=1", "a = x kv-type=f12", "a = x max-sequences=0"})
    void refusesSizesThatAreNone(String line) throws IOException {
        Path file = Files.writeString(folder.resolve("models"), line);

        assertThatThrownBy(() -> options(List.of(), "--models=" + file)).isInstanceOf(InvalidRequestException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "= x", "a =", "a = x keep-alive=soon", "a = x share=much", "a = x share=0"})
    void refusesLinesThatSayNothing(String line) throws IOException {
        Path file = Files.writeString(folder.resolve("models"), line);

        assertThatThrownBy(() -> options(List.of(), "--models=" + file)).isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void refusesNamesThatNoModelOrTwoHave() {
        List<Path> models = List.of(Path.of("x"), Path.of("y"));

        Stream.of("--pin=z", "--alias=a=z", "--alias=x=y", "--alias=x", "--load-timeout=0")
                .forEach(option -> assertThatThrownBy(() -> options(models, option))
                        .as(option)
                        .isInstanceOf(InvalidRequestException.class));
        assertThatThrownBy(() -> options(List.of(Path.of("x"), Path.of("f/x"))))
                .hasMessageContaining("two models have the name x");
    }

    @ParameterizedTest
    @CsvSource({
        "-1,PT-1S",
        "0,PT0S",
        "90,PT1M30S",
        "90s,PT1M30S",
        "5m,PT5M",
        "2h,PT2H",
        "250ms,PT0.25S",
        "999999999m,PT876000H",
        "999999999h,PT876000H"
    })
    void readsTimes(String text, Duration time) {
        assertThat(PoolFlags.time(text)).isEqualTo(time);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "soon", "-2", "5 m", "1d", "99999999999s"})
    void refusesWhatIsNoTime(String text) {
        assertThatThrownBy(() -> PoolFlags.time(text)).hasMessageContaining("keep alive is " + text);
    }
}
