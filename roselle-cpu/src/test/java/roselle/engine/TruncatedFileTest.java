package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.testing.ChildJvm;

/** A model's file that becomes shorter while it is mapped fails requests in one sentence; the JVM lives on. */
class TruncatedFileTest {
    @TempDir
    private Path folder;

    @Tag("long")
    @Test
    void aFileThatShrinksFailsTheEngineAndNotTheJvm() {
        check("AUTO");
    }

    @Tag("long")
    @Test
    void aFileThatShrinksFailsTheEngineAndNotTheJvmOfTheVectorApi() {
        check("VECTOR");
    }

    private void check(String path) {
        String said = ChildJvm.run(
                        List.of(),
                        TruncationProbe.class,
                        folder.toString(),
                        "../roselle-engine/src/test/resources/tiny-models/llama",
                        path)
                .success();
        String shrank =
                "model.safetensors shrank from 219888 to 5000 bytes while it was open: restore it and open again";
        assertThat(said)
                .containsPattern("failed: the engine failed and must be opened again: .*" + shrank)
                .containsPattern("refused: the engine failed and must be opened again: .*" + shrank)
                .containsPattern("not loaded: .*" + shrank);
    }
}
