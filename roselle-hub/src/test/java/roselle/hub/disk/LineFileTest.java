package roselle.hub.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LineFileTest {
    private static final String OLD = "bob sha256:00";

    @TempDir
    private Path folder;

    @Test
    void aFullDiskLeavesTheFileAsItWasWhicheverWriteFails() throws IOException {
        String line = "alice sha256:11";
        for (int failing = 0; failing <= line.length() + 1; failing++) {
            Path file = Files.writeString(folder.resolve("keys" + failing), OLD);
            var full = new LineFile(file, new FullDisk(failing));

            assertThatThrownBy(() -> full.add(line))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(file.toString())
                    .hasMessageContaining("No space left");

            assertThat(Files.readString(file)).isEqualTo(OLD);
        }
    }

    @Test
    void addsLinesThatAreWhole() throws IOException {
        Path file = Files.writeString(folder.resolve("keys"), OLD);
        new LineFile(file, FileChannel::write).add("alice");
        new LineFile(file).add("carol");

        assertThat(Files.readString(file)).isEqualTo(OLD + "\nalice\ncarol\n");
    }
}
