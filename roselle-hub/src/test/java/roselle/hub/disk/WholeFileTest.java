package roselle.hub.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WholeFileTest {
    private static final String OLD = "0123456789012345678901234567890123456789";
    private static final String NEW = "abcdefabcdefabcdefabcdefabcdefabcdefabcd";

    @TempDir
    private Path folder;

    @Test
    void aFullDiskLeavesTheOldContentWhicheverWriteFails() throws IOException {
        Path file = Files.writeString(folder.resolve("main"), OLD);
        for (int failing = 0; failing < NEW.length(); failing++) {
            var full = new WholeFile(file, new FullDisk(failing));

            assertThatThrownBy(() -> full.write(NEW))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(file.toString())
                    .hasMessageContaining("No space left");

            assertThat(Files.readString(file)).isEqualTo(OLD);
            assertThat(folder).isDirectoryNotContaining("glob:**.tmp");
        }
        new WholeFile(file, new FullDisk(NEW.length())).write(NEW);
        assertThat(Files.readString(file)).isEqualTo(NEW);
    }

    @Test
    void aFullDiskLeavesNoFileWhereThereWasNone() {
        Path file = folder.resolve("CACHEDIR.TAG");
        assertThatThrownBy(() -> new WholeFile(file, new FullDisk(7)).write(NEW))
                .isInstanceOf(IOException.class);
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void goesThroughALinkAndReplacesPlainFilesAlone() throws IOException {
        Path file = Files.writeString(folder.resolve("main"), OLD);
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);
        new WholeFile(link).write(NEW);
        assertThat(Files.readString(file)).isEqualTo(NEW);
        assertThat(link).isSymbolicLink();

        Path device = Files.createDirectory(folder.resolve("device"));
        assertThatThrownBy(() -> new WholeFile(device).write(NEW))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no plain file");
    }
}
