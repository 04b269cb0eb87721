package roselle.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

@DisabledOnOs(OS.WINDOWS)
class UserCacheTest {
    @Test
    void liesWhereTheLauncherLooks() {
        assertThat(folder(Map.of("ROSELLE_CACHE", "/r", "XDG_CACHE_HOME", "/x", "HOME", "/h"), "Linux"))
                .contains(Path.of("/r"));
        assertThat(folder(Map.of("ROSELLE_CACHE", " ", "XDG_CACHE_HOME", "/x", "HOME", "/h"), "Linux"))
                .contains(Path.of("/x/roselle"));
        assertThat(folder(Map.of("XDG_CACHE_HOME", "", "HOME", "/h"), "Linux")).contains(Path.of("/h/.cache/roselle"));
        assertThat(folder(Map.of("XDG_CACHE_HOME", "/x", "HOME", "/h"), "Mac OS X"))
                .contains(Path.of("/h/Library/Caches/roselle"));
        assertThat(folder(Map.of("LOCALAPPDATA", "/l", "HOME", "/h"), "Windows 11"))
                .contains(Path.of("/l/roselle/cache"));
    }

    @Test
    void isNowhereWithoutAHome() {
        assertThat(folder(Map.of(), "Linux")).isEmpty();
    }

    private static Optional<Path> folder(Map<String, String> environment, String system) {
        return UserCache.folder(environment, system);
    }
}
