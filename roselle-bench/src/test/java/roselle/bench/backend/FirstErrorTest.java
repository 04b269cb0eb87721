package roselle.bench.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FirstErrorTest {
    @TempDir
    private Path folder;

    /** What vLLM 0.26 wrote on a machine with too little memory, shortened. */
    @Test
    void putsTheErrorOfAnotherProcessBeforeTheLinesThatPointAtIt() throws IOException {
        String said = of("""
                (APIServer pid=1) WARNING 11-21 [system_utils.py:299] This can cause errors like `OSError: [Errno 24] Too many`
                ERROR 11-21 [multiproc_executor.py:901] Traceback (most recent call last):
                ERROR 11-21 [multiproc_executor.py:901]   File "cpu_worker.py", line 3, in __init__
                ERROR 11-21 [multiproc_executor.py:901] ValueError: Available memory on node 0 is less than desired
                (EngineCore pid=2) Exception: WorkerProc initialization failed due to an exception in a process.
                Traceback (most recent call last):
                  File "utils.py", line 1213, in launch_core_engines
                    wait_for_engine_startup(
                  File "utils.py", line 1272, in wait_for_engine_startup
                    raise RuntimeError(
                RuntimeError: Engine core initialization failed. See root cause above.
                """);

        assertThat(said)
                .startsWith(
                        "ValueError: Available memory on node 0 is less than desired | … |   File \"utils.py\", line")
                .endsWith(" | RuntimeError: Engine core initialization failed. See root cause above.");
    }

    @Test
    void saysAnErrorThatIsAmongTheLastLinesOnce() throws IOException {
        assertThat(of("loading\n\nTraceback\n  torch.OutOfMemoryError: here\ntorch.OutOfMemoryError: 2 GiB\n"))
                .isEqualTo("loading | Traceback |   torch.OutOfMemoryError: here | torch.OutOfMemoryError: 2 GiB");
    }

    @Test
    void readsTheEndOfAnOutputWithoutLimits() throws IOException {
        String first = "KeyError: long ago\n";
        String many = IntStream.range(0, 40_000)
                .mapToObj(i -> "line " + i + " of an engine that talks much\n")
                .collect(Collectors.joining());

        assertThat(of(first + many)).startsWith("line 39995 ").endsWith("line 39999 of an engine that talks much");
        assertThat(of("x".repeat(3_000_000))).hasSize(601);
        assertThat(of(" \n")).isEqualTo("it wrote nothing");
    }

    private String of(String output) throws IOException {
        return FirstError.of(Files.writeString(folder.resolve("log"), output));
    }
}
