package roselle.bench.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** The commands as the documentation of the tools and engines has them. */
final class ProfileKindTest {
    private static final Path FOLDER = Path.of("/results/profiles");

    @TempDir
    private Path folder;

    /** Since its version 0.13 a variable of the environment is not enough. */
    @Test
    void tellsVllmWhereItsTorchProfileGoes() throws Exception {
        Path file = ProfileKind.TORCH.file(FOLDER, "a \"b\"");

        List<String> command = ProfileKind.TORCH.around("vllm", List.of("python3", "-m", "vllm"), file);

        assertThat(command)
                .startsWith("python3", "-m", "vllm", "--profiler-config")
                .hasSize(5);
        var config = new JsonMapper().readTree(command.getLast());
        assertThat(config.path("profiler").asString()).isEqualTo("torch");
        assertThat(config.path("torch_profiler_dir").asString()).isEqualTo(file.toString());
    }

    @Test
    void tellsOthersByTheirEnvironment() {
        Path file = ProfileKind.TORCH.file(FOLDER, "one");

        assertThat(ProfileKind.TORCH.around("sglang", List.of("python3"), file)).containsExactly("python3");
        assertThat(ProfileKind.TORCH.environment(file))
                .containsEntry("SGLANG_TORCH_PROFILER_DIR", "/results/profiles/one-torch")
                .containsEntry("PROFILE_FOLDER", "/results/profiles/one-torch");
        assertThat(ProfileKind.TORCH.suits("hf")).isTrue();
        assertThat(ProfileKind.TORCH.suits("llamacpp")).isFalse();
    }

    /** A recording of the requests alone: without the start of the engine, and written while the engine still runs. */
    @Test
    void recordsASessionOfNsys() {
        Path file = ProfileKind.NSYS.file(FOLDER, "one");
        List<String> around = ProfileKind.NSYS.around("vllm", List.of("python3", "server.py"), file);
        String session = around.get(2).substring("--session-new=".length());

        assertThat(around).startsWith("nsys", "launch").endsWith("--trace=cuda,nvtx,osrt", "python3", "server.py");
        assertThat(session).matches("[a-z][a-z0-9]+");
        assertThat(ProfileKind.NSYS.begin(file))
                .containsExactly(
                        "nsys",
                        "start",
                        "--session=" + session,
                        "--force-overwrite=true",
                        "--output=/results/profiles/one.nsys-rep");
        assertThat(ProfileKind.NSYS.end(1, file)).containsExactly("nsys", "stop", "--session=" + session);
        assertThat(ProfileKind.NSYS.begin(ProfileKind.NSYS.file(FOLDER, "two"))).doesNotContain("--session=" + session);
    }

    @Test
    void findsWhatNsysLeavesWhereItCannotMakeAReport() throws Exception {
        Path report = ProfileKind.NSYS.file(folder, "one");
        assertThat(ProfileKind.NSYS.written(report)).isEmpty();
        Path stream = Files.writeString(folder.resolve("one.qdstrm"), "x");
        assertThat(ProfileKind.NSYS.written(report)).containsExactly(stream);
        Files.writeString(report, "x");
        assertThat(ProfileKind.NSYS.written(report)).containsExactly(report, stream);
        assertThat(ProfileKind.JFR.written(ProfileKind.JFR.file(folder, "one"))).isEmpty();
    }

    @Test
    void seesThatNothingWasRecorded() throws Exception {
        Path empty = Files.createDirectory(folder.resolve("empty-torch"));
        assertThat(Manifest.isEmpty(folder.resolve("missing.jfr"))).isTrue();
        assertThat(Manifest.isEmpty(empty)).isTrue();
        Files.createFile(empty.resolve("trace.json"));
        assertThat(Manifest.isEmpty(empty)).isTrue();
        Files.writeString(empty.resolve("trace.json"), "{}");
        assertThat(Manifest.isEmpty(empty)).isFalse();
    }
}
