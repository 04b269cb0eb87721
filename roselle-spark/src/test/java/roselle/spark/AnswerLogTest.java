package roselle.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.FinishReason;
import roselle.api.Usage;
import roselle.offline.Answer;

class AnswerLogTest {
    private static final Configuration HADOOP = new Configuration(false);

    @TempDir
    private Path folder = Path.of("");

    private long seconds;

    private AnswerLog log(int rowsAtATime) {
        InstantSource clock = () -> Instant.ofEpochSecond(seconds);
        return AnswerLog.open(folder.toUri().toString(), 3, rowsAtATime, HADOOP, clock);
    }

    private static Answer.Generated answer(int number) {
        return new Answer.Generated(
                "text ä " + number,
                "thought",
                List.of(number, 2),
                FinishReason.LENGTH,
                new Usage(number, 0, 2, 1, 0, 0, 0));
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("partition-3"))) {
            return files.toList();
        }
    }

    @Test
    void whatWasKeptIsFoundByTheNext() throws IOException {
        var first = log(2);
        for (int i = 0; i < 5; i++) {
            first.add("key" + i, answer(i));
        }
        assertThat(files()).hasSize(2); // the process may be killed here
        var next = log(2);
        assertThat(next.size()).isEqualTo(4);
        assertThat(next.find("key3")).contains(answer(3));
        assertThat(next.find("key4")).isEmpty();
        first.close();
        assertThat(log(2).find("key4")).contains(answer(4));
    }

    @Test
    void writesSoonerWhenTimePasses() throws IOException {
        var log = log(100);
        log.add("a", answer(1));
        assertThat(files()).isEmpty();
        seconds = 10;
        log.add("b", answer(2));
        assertThat(files()).hasSize(1);
    }

    @Test
    void aFileCountsAsFarAsItIsSound() throws IOException {
        try (var log = log(3)) {
            for (int i = 0; i < 3; i++) {
                log.add("key" + i, answer(i));
            }
        }
        Path file = files().getFirst();
        byte[] whole = Files.readAllBytes(file);
        for (int length = 0; length < whole.length; length++) {
            Files.write(file, java.util.Arrays.copyOf(whole, length));
            assertThat(log(3).size()).isEqualTo(length * 3 / whole.length);
        }
        whole[whole.length / 2] ^= 1;
        Files.write(file, whole);
        assertThat(log(3).size()).isEqualTo(1);
    }
}
