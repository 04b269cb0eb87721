package roselle.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.InvalidRequestException;

final class FileWatchTest {
    @TempDir
    private Path folder;

    private Path file = Path.of("");
    private final List<String> read = new ArrayList<>();

    @BeforeEach
    void write() throws IOException {
        file = Files.writeString(folder.resolve("keys"), "one");
    }

    private FileWatch watch() {
        return new FileWatch(List.of(file), () -> {
            String text = text();
            if (text.equals("broken")) {
                throw new InvalidRequestException("broken");
            }
            read.add(text);
        });
    }

    private String text() {
        try {
            return Files.readString(file);
        } catch (IOException unreadable) {
            throw new java.io.UncheckedIOException(unreadable);
        }
    }

    @Test
    void hasAFileReadOncePerChange() throws IOException {
        FileWatch watch = watch();
        watch.look();
        assertThat(read).isEmpty();

        Files.writeString(file, "another");
        watch.look();
        watch.look();

        assertThat(read).containsExactly("another");
    }

    @Test
    void noticesAFileOfTheSameSizeAndTimeThatWasPutInThePlace() throws IOException {
        FileWatch watch = watch();
        Path next = Files.writeString(folder.resolve("next"), "two");
        Files.setLastModifiedTime(next, Files.getLastModifiedTime(file));

        Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
        watch.look();

        assertThat(read).containsExactly("two");
    }

    @Test
    void followsALinkThatMoves() throws IOException {
        Path target = file;
        file = Files.createSymbolicLink(folder.resolve("link"), target);
        FileWatch watch = watch();
        Path other = Files.writeString(folder.resolve("other"), "six");

        Files.delete(file);
        watch.look(); // not there for a moment
        Files.createSymbolicLink(file, other);
        watch.look();

        assertThat(read).containsExactly("six");
    }

    @Test
    void goesOnAfterAFileThatIsNoGood() throws IOException {
        FileWatch watch = watch();
        Files.writeString(file, "broken");
        watch.look();
        assertThat(read).isEmpty();

        Files.writeString(file, "mended");
        watch.look();

        assertThat(read).containsExactly("mended");
    }
}
