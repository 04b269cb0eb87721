package roselle.hub.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WholeFileTest {
    private static final String OLD = "0123456789012345678901234567890123456789";
    private static final String NEW = "abcdefabcdefabcdefabcdefabcdefabcdefabcd";

    @TempDir
    private Path folder;

    /** A disk that takes a byte with each write, and is full at one of them. */
    private static WholeFile.Writer fullAt(int failing) {
        int[] writes = new int[1];
        return (file, bytes) -> {
            if (writes[0]++ == failing) {
                throw new IOException("No space left on device");
            }
            file.write(ByteBuffer.wrap(new byte[] {bytes.get()}));
        };
    }

    @Test
    void aFullDiskLeavesTheOldContentWhicheverWriteFails() throws IOException {
        Path file = Files.writeString(folder.resolve("main"), OLD);
        for (int failing = 0; failing < NEW.length(); failing++) {
            var full = new WholeFile(file, fullAt(failing));

            assertThatThrownBy(() -> full.write(NEW))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(file.toString())
                    .hasMessageContaining("No space left");

            assertThat(Files.readString(file)).isEqualTo(OLD);
            assertThat(folder).isDirectoryNotContaining("glob:**.tmp");
        }
        new WholeFile(file, fullAt(NEW.length())).write(NEW);
        assertThat(Files.readString(file)).isEqualTo(NEW);
    }

    @Test
    void aFullDiskLeavesNoFileWhereThereWasNone() {
        Path file = folder.resolve("CACHEDIR.TAG");
        assertThatThrownBy(() -> new WholeFile(file, fullAt(7)).write(NEW)).isInstanceOf(IOException.class);
        assertThat(folder).isEmptyDirectory();
    }
}
