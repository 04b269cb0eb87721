package roselle.hub;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.checkpoint.path.Checkpoints;

class BundledModelTest {
    @TempDir
    private Path folder = Path.of("");

    @Test
    void knowsTheDemoModelAndNoOther() {
        assertThat(BundledModel.named("demo")).contains(BundledModel.DEMO);
        assertThat(BundledModel.named("Demo")).isEmpty();
        assertThat(BundledModel.named("")).isEmpty();
    }

    @Test
    void unpacksAModelThatOpens() throws IOException {
        Path file = BundledModel.DEMO.unpackInto(folder.resolve("new/cache"));
        try (var checkpoint = Checkpoints.open(file)) {
            assertThat(checkpoint.tokenizer().vocabularySize()).isEqualTo(4096);
            assertThat(checkpoint.chatTemplate()).isPresent();
        }
        assertThat(Files.size(file)).isLessThanOrEqualTo(10_000_000);
    }

    @Test
    void leavesAFileAloneThatIsThere() throws IOException {
        Path file = BundledModel.DEMO.unpackInto(folder);
        FileTime longAgo = FileTime.fromMillis(1_000_000);
        Files.setLastModifiedTime(file, longAgo);
        assertThat(BundledModel.DEMO.unpackInto(folder)).isEqualTo(file);
        assertThat(Files.getLastModifiedTime(file)).isEqualTo(longAgo);
    }

    @Test
    void replacesAFileThatIsCutOffOrChanged() throws IOException {
        Path file = BundledModel.DEMO.unpackInto(folder);
        byte[] right = Files.readAllBytes(file);
        byte[] changed = right.clone();
        changed[changed.length / 2] ^= 1;
        Files.write(file, changed);
        assertThat(BundledModel.DEMO.unpackInto(folder)).hasBinaryContent(right);
        Files.write(file, new byte[1000]);
        assertThat(BundledModel.DEMO.unpackInto(folder)).hasBinaryContent(right);
    }

    @Test
    void manyAtATimeGetOneWholeFileAndLeaveNoOther() throws Exception {
        try (var threads = Executors.newFixedThreadPool(8)) {
            Callable<Path> unpack = () -> {
                Path file = BundledModel.DEMO.unpackInto(folder);
                Checkpoints.open(file).close();
                return file;
            };
            var files = threads.invokeAll(
                    IntStream.range(0, 8).mapToObj(_ -> unpack).toList());
            Path first = files.getFirst().get();
            for (var file : files) {
                assertThat(file.get()).isEqualTo(first);
            }
            try (Stream<Path> left = Files.list(folder)) {
                assertThat(left.collect(Collectors.toList())).containsExactly(first);
            }
        }
    }
}
