package roselle.server.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.server.pool.FakeSource.FakeModel;

/** A folder of models that changes while they are used. */
final class RepositoryWatchTest {
    @TempDir
    private Path folder;

    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final ModelPool<FakeModel> pool =
            new ModelPool<>(List.of(), 100, Duration.ofSeconds(30), tasks::add, () -> 0);
    private final RepositoryWatch<FakeModel> watch =
            new RepositoryWatch<>(() -> ModelFolder.prints(folder), RepositoryWatchTest::member, pool);

    private static PoolMember<FakeModel> member(Path path) {
        String file = path.getFileName().toString();
        return new PoolMember<>(
                file.replace(".gguf", ""), List.of(), new FakeSource(10), false, Duration.ofSeconds(-1));
    }

    private void look() {
        watch.look();
        run();
    }

    private void run() {
        while (!tasks.isEmpty()) {
            tasks.removeFirst().run();
        }
    }

    private FakeModel use(String name) {
        var asked = pool.ask(name);
        run();
        try (var lease = asked.join()) {
            return lease.model();
        } finally {
            run();
        }
    }

    private List<String> names() {
        return pool.states().stream().map(ModelState::name).sorted().toList();
    }

    private void write(String file, String text) throws IOException {
        Files.writeString(folder.resolve(file), text);
    }

    @Test
    void aNewModelIsThereWhenNobodyWritesToItAnyMore() throws IOException {
        write("a.gguf", "a");
        look();
        assertThat(names()).isEmpty();
        write("a.gguf", "a longer one");
        look();
        assertThat(names()).as("it has grown").isEmpty();
        look();
        assertThat(names()).containsExactly("a");

        Files.createDirectory(folder.resolve("b"));
        write("b/model.safetensors", "b");
        watch.believeAll();
        assertThat(names()).as("it has no configuration yet").containsExactly("a");
        write("b/config.json", "{}");
        watch.believeAll();
        assertThat(names()).containsExactly("a", "b");
    }

    @Test
    void aModelThatIsGoneGoesBehindItsRequestsAndHarmsNoOther() throws IOException {
        write("a.gguf", "a");
        write("b.gguf", "b");
        watch.believeAll();
        FakeModel other = use("b");
        var used = pool.ask("a");
        run();

        Files.delete(folder.resolve("a.gguf"));
        look();

        assertThat(names()).containsExactly("b");
        assertThat(used.join().model().isClosed).isFalse();
        used.join().close();
        run();
        assertThat(used.join().model().isClosed).isTrue();
        assertThat(use("b")).isSameAs(other);
    }

    @Test
    void whatTakesAFilesPlaceTakesTheModelsPlaceWhenItIsComplete() throws IOException {
        write("a.gguf", "a");
        watch.believeAll();
        FakeModel old = use("a");
        write("a.part", "another");
        Files.move(folder.resolve("a.part"), folder.resolve("a.gguf"), StandardCopyOption.REPLACE_EXISTING);
        look();
        assertThat(use("a")).as("it is whole").isSameAs(old);

        look();

        assertThat(use("a")).isNotSameAs(old);
        assertThat(old.isClosed).isTrue();
    }

    @Test
    void aModelWhoseFileIsWrittenToGoesUntilThatIsDone() throws IOException {
        write("a.gguf", "a");
        write("b.gguf", "b");
        watch.believeAll();
        FakeModel old = use("a");
        FakeModel other = use("b");
        Files.writeString(folder.resolve("a.gguf"), "b", StandardOpenOption.APPEND);
        look();

        var asked = pool.ask("a");
        run();
        assertThatThrownBy(asked::join).hasMessageContaining("its files are being written");
        assertThat(old.isClosed).isTrue();
        assertThat(pool.states().stream()
                        .filter(state -> state.word().equals("failed"))
                        .map(ModelState::name))
                .containsExactly("a");
        assertThat(use("b")).isSameAs(other);

        look();
        assertThat(use("a").isClosed).isFalse();
    }

    @Test
    void allPartsOfAFileAreItsOwn() throws IOException {
        write("a-00001-of-00002.gguf", "first");
        watch.believeAll();
        assertThat(names()).containsExactly("a-00001-of-00002");
        FakeModel old = use("a-00001-of-00002");

        write("a-00002-of-00002.gguf", "second");
        watch.believeAll();

        assertThat(names()).containsExactly("a-00001-of-00002");
        assertThat(use("a-00001-of-00002")).isNotSameAs(old);
    }

    @Test
    void anotherModelsNameIsLeftToIt() throws IOException {
        pool.put(member(Path.of("a.gguf")));
        write("a.gguf", "a");
        watch.believeAll();
        Files.delete(folder.resolve("a.gguf"));
        look();

        assertThat(names()).containsExactly("a");
    }

    @Test
    void operatorsSayWhatIsLoadedWhereThatIsUpToThem() throws IOException {
        pool.requirePermission();
        write("a.gguf", "a");
        watch.believeAll();
        assertThat(pool.ask("a")).isCompletedExceptionally();
        pool.permit("a");
        FakeModel loaded = use("a");
        pool.dismiss("a");
        run();

        assertThat(loaded.isClosed).isTrue();
        assertThat(pool.ask("a")).isCompletedExceptionally();
    }
}
