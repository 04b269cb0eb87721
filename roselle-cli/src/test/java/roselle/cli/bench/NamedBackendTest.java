package roselle.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class NamedBackendTest {
    @TempDir
    private Path folder;

    @Test
    void findsAProgramBesideThePythonThatHasIt() throws Exception {
        Path program = Files.createFile(folder.resolve("trtllm-serve"));
        String python = folder.resolve("python").toString();

        assertThat(NamedBackend.beside(python, "trtllm-serve")).isEqualTo("trtllm-serve");
        assertThat(program.toFile().setExecutable(true)).isTrue();
        assertThat(NamedBackend.beside(python, "trtllm-serve")).isEqualTo(program.toString());
        assertThat(NamedBackend.beside("python3", "trtllm-serve")).isEqualTo("trtllm-serve");
    }
}
