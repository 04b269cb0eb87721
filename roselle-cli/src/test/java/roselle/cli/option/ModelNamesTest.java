package roselle.cli.option;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
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
    void looksForCachesWhereTheLauncherDoes() {
        assertThat(cache(Map.of("ROSELLE_CACHE", "/r", "XDG_CACHE_HOME", "/x", "HOME", "/h"), "linux"))
                .contains(Path.of("/r"));
        assertThat(cache(Map.of("XDG_CACHE_HOME", "/x", "HOME", "/h"), "linux")).contains(Path.of("/x/roselle"));
        assertThat(cache(Map.of("XDG_CACHE_HOME", "", "HOME", "/h"), "linux")).contains(Path.of("/h/.cache/roselle"));
        assertThat(cache(Map.of("XDG_CACHE_HOME", "/x", "HOME", "/h"), "mac os x"))
                .contains(Path.of("/h/Library/Caches/roselle"));
        assertThat(cache(Map.of("LOCALAPPDATA", "/l", "HOME", "/h"), "windows 11"))
                .contains(Path.of("/l/roselle/cache"));
        assertThat(cache(Map.of(), "linux")).isEmpty();
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

    private static Optional<Path> cache(Map<String, String> environment, String system) {
        return ModelNames.cacheFolder(environment, system);
    }
}
