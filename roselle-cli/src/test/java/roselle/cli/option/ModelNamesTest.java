package roselle.cli.option;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.hub.BundledModel;

class ModelNamesTest {
    @TempDir
    private Path folder = Path.of("");

    @Test
    void aPathStaysAPath() {
        for (String path : new String[] {"./demo", "/demo", "a/demo", "demo.gguf", "other", ""}) {
            assertThat(ModelNames.resolve(Path.of(path))).isEqualTo(Path.of(path));
        }
    }

    @Test
    void unpacksIntoTheCache() {
        assertThat(ModelNames.unpacked(BundledModel.DEMO, Optional.of(folder)))
                .isRegularFile()
                .hasParent(folder.resolve("models"));
    }

    @Test
    void unpacksElsewhereWhereTheCacheCannotBeWritten() throws IOException {
        Path noFolder = Files.createFile(folder.resolve("a-file"));
        assertThat(ModelNames.unpacked(BundledModel.DEMO, Optional.of(noFolder)))
                .isRegularFile();
        assertThat(ModelNames.unpacked(BundledModel.DEMO, Optional.empty())).isRegularFile();
    }
}
