package roselle.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where NVIDIA's libraries are looked for. */
class NativeLibraryTest {
    @TempDir
    private Path top = Path.of("");

    private Path folder(String path) throws IOException {
        return Files.createDirectories(top.resolve(path));
    }

    @Test
    void looksWhereToolkitsAndPythonEnvironmentsPutLibraries() throws IOException {
        Path home = folder("toolkit");
        Path lib64 = folder("toolkit/lib64");
        Path active = folder("venv/lib/python3.12/site-packages/nvidia/cu13/lib");
        Path conda = folder("conda/lib");
        Path toolkit = folder("usr/local/cuda-13.0/lib64");
        Path own = folder("home/.local/lib/python3.12/site-packages/nvidia/cu13/lib");
        Path machine = folder("usr/lib/python3.11/dist-packages/nvidia/cuda_nvrtc/lib");
        Map<String, String> environment = Map.of(
                "CUDA_HOME", home.toString(),
                "VIRTUAL_ENV", top.resolve("venv").toString(),
                "CONDA_PREFIX", top.resolve("conda").toString());
        assertThat(NativeLibrary.folders(environment::get, top.resolve("home"), top))
                .containsExactly(lib64, home, active, conda, toolkit, own, machine);
    }

    @Test
    void looksInTheFolderThatCudaHomeNamesItself() throws IOException {
        Path library = folder("site-packages/nvidia/cu13/lib");
        Path wheel = top.resolve("site-packages/nvidia/cu13");
        assertThat(NativeLibrary.folders(Map.of("CUDA_HOME", library.toString())::get, top, top))
                .containsExactly(library);
        assertThat(NativeLibrary.folders(Map.of("CUDA_HOME", wheel.toString())::get, top, top))
                .containsExactly(library, wheel);
        assertThat(NativeLibrary.folders(Map.of("CUDA_HOME", " ")::get, top, top))
                .isEmpty();
    }
}
