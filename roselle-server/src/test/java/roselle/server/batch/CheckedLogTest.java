package roselle.server.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.CheckpointException;

/** What is written is read; what is cut is gone; what is damaged is told. */
final class CheckedLogTest {
    private static final List<String> RECORDS = List.of("first", "second one", "third");

    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void write() throws IOException {
        file = folder.resolve("log");
        try (var log = CheckedLog.open(file, (_, _) -> {})) {
            for (String record : RECORDS) {
                long offset = log.append(record.getBytes(StandardCharsets.UTF_8));
                assertThat(log.read(offset, record.length())).asString().isEqualTo(record);
            }
        }
    }

    private List<String> read() throws IOException {
        var read = new ArrayList<String>();
        CheckedLog.open(file, (record, _) -> read.add(new String(record, StandardCharsets.UTF_8)))
                .close();
        return read;
    }

    @Test
    void readsWhatWasWritten() throws IOException {
        assertThat(read()).isEqualTo(RECORDS);
    }

    @Test
    void dropsAnEndThatIsNotWholeAndGoesOnBehindWhatIs() throws IOException {
        byte[] all = Files.readAllBytes(file);
        int last = all.length - ("third".length() + 10);
        for (int length = last; length < all.length; length++) {
            Files.write(file, Arrays.copyOf(all, length));
            try (var log = CheckedLog.open(file, (_, _) -> {})) {
                log.append("new".getBytes(StandardCharsets.UTF_8));
            }
            assertThat(read()).as("of %d bytes", length).containsExactly("first", "second one", "new");
        }
    }

    @Test
    void refusesDamageBeforeSoundRecords() throws IOException {
        byte[] all = Files.readAllBytes(file);
        int inSecond = "first".length() + 10;
        for (int at = 0; at < inSecond; at++) {
            byte[] damaged = all.clone();
            damaged[at] ^= 1;
            Files.write(file, damaged);
            assertThatThrownBy(this::read).as("byte %d", at).isInstanceOf(CheckpointException.class);
        }
    }
}
