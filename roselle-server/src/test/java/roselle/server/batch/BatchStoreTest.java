package roselle.server.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.InvalidRequestException;
import roselle.server.batch.Batch.LineError;
import roselle.server.batch.Batch.Tally;
import roselle.server.http.ApiException;

/** What a folder keeps, for how long, and for whom. */
final class BatchStoreTest {
    private static final long SPACE = 1 << 20;

    @TempDir
    private Path folder;

    private long seconds = 1_000_000;
    private final InstantSource clock = () -> Instant.ofEpochSecond(seconds);

    private BatchStore open() {
        return BatchStore.open(folder, SPACE, clock);
    }

    private StoredFile file(BatchStore store, String key, int bytes) throws IOException {
        String id = BatchStore.newFileId();
        Files.write(store.path(id), new byte[bytes]);
        var file = new StoredFile(id, key, "in.jsonl", "batch", bytes, seconds, seconds + 3600);
        store.add(file);
        return file;
    }

    private Batch.Order order(StoredFile file) {
        return new Batch.Order(
                "batch_1",
                file.key(),
                "group",
                "/v1/completions",
                file.id(),
                seconds,
                seconds + 86_400,
                7200,
                Map.of("a", "b"));
    }

    @Test
    void keepsEverythingOfABatch() throws IOException {
        Batch last;
        try (var store = open()) {
            Batch batch = store.add(order(file(store, "key", 3)));
            last = batch.with(new Tally(3, 1, 2))
                    .with(List.of(new LineError(2, "code", "message", "field")))
                    .with("file-out", "")
                    .reached(BatchState.IN_PROGRESS, seconds + 1);
            store.change(last, List.of());
        }
        try (var store = open()) {
            assertThat(store.batch("batch_1", "key")).isEqualTo(last);
        }
    }

    @Test
    void forgetsFilesWhoseTimeIsOverButNotWhatABatchReads() throws IOException {
        try (var store = open()) {
            StoredFile read = file(store, "key", 3);
            StoredFile other = file(store, "key", 5);
            Batch batch = store.add(order(read));
            seconds += 3600;

            assertThat(store.files("key")).containsExactly(read);
            assertThat(store.path(other.id())).doesNotExist();
            assertThatThrownBy(() -> store.remove(read.id(), "key")).hasMessageContaining("is read by batch_1");
            store.change(batch.reached(BatchState.COMPLETED, seconds), List.of());
            assertThat(store.files("key")).isEmpty();
            seconds += BatchStore.FILE_SECONDS + 1;
            assertThat(store.batches("key")).isEmpty();
        }
    }

    @Test
    void countsWhatFilesTake() throws IOException {
        try (var store = open()) {
            file(store, "key", 1000);
            file(store, "other", 24);
            assertThat(store.room()).isEqualTo(SPACE - 1024);
        }
    }

    @Test
    void removesWhatNoRecordKnows() throws IOException {
        Path stray;
        try (var store = open()) {
            stray = Files.writeString(store.path("file-stray"), "half");
        }
        open().close();
        assertThat(stray).doesNotExist();
    }

    @Test
    void isOneServersAtATime() {
        try (var _ = open()) {
            assertThatThrownBy(this::open).isInstanceOf(InvalidRequestException.class);
        }
        open().close();
    }

    @Test
    void cancelsWhatIsNotFinished() throws IOException {
        try (var store = open()) {
            Batch batch = store.add(order(file(store, "key", 3)));
            assertThatThrownBy(() -> store.cancel("batch_1", "other")).isInstanceOf(ApiException.class);
            assertThat(store.cancel("batch_1", "key").state()).isEqualTo(BatchState.CANCELLING);
            assertThat(store.cancel("batch_1", "key").state()).isEqualTo(BatchState.CANCELLING);
            store.change(batch.reached(BatchState.CANCELLED, seconds), List.of());
            assertThatThrownBy(() -> store.cancel("batch_1", "key")).hasMessageContaining("cancelled");
        }
    }
}
