package roselle.server.batch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.server.http.Exchange;
import roselle.server.http.InnerRequests;
import roselle.server.http.Routes;
import roselle.server.openai.common.OpenAiConventions;

/** How a batch goes from state to state, with an API that answers at once, or only when it is broken off. */
final class BatchRunnerTest {
    private static final String PATH = "/v1/completions";
    private static final long NOW = 1_000_000;
    private static final Pattern STATE = Pattern.compile("\"state\":\"([a-z_]+)\"");

    @TempDir
    private Path folder;

    private final InstantSource clock = () -> Instant.ofEpochSecond(NOW);
    private final LinkedBlockingQueue<String> begun = new LinkedBlockingQueue<>();

    private void answer(Exchange exchange) throws IOException {
        String body = new String(exchange.body(), StandardCharsets.UTF_8);
        begun.add(body);
        if (body.contains("slow")) {
            var gone = new CountDownLatch(1);
            exchange.whenGone(gone::countDown);
            try {
                gone.await();
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        }
        exchange.send(200, "application/json", "{}".getBytes(StandardCharsets.UTF_8));
    }

    private static String line(String id, String prompt) {
        return "{\"custom_id\":\"" + id + "\",\"method\":\"POST\",\"url\":\"" + PATH + "\",\"body\":{\"prompt\":\""
                + prompt + "\"}}\n";
    }

    private Batch batch(BatchStore store, String content, long seconds) throws IOException {
        String file = BatchStore.newFileId();
        Files.writeString(store.path(file), content);
        store.add(new StoredFile(file, "", "in.jsonl", "batch", content.length(), NOW, NOW + 86_400));
        var batch = Batch.ordered(new Batch.Order("batch_1", "", "", PATH, file, NOW, NOW + seconds, 7200, Map.of()));
        store.change(batch, List.of());
        return batch;
    }

    private BatchRunner runner(BatchStore store) {
        var routes = new Routes(OpenAiConventions.COMPLETIONS).post(PATH, this::answer);
        return new BatchRunner(store, new InnerRequests(routes, 1 << 16), 1 << 16, 1, clock);
    }

    private static Batch ended(BatchStore store) throws InterruptedException {
        while (!store.present("batch_1").state().isLast()) {
            Thread.sleep(1);
        }
        return store.present("batch_1");
    }

    /** The states that the journal has of the batch, each once in a row. */
    private List<String> states() throws IOException {
        String journal = Files.readString(folder.resolve("journal"), StandardCharsets.ISO_8859_1);
        List<String> all =
                STATE.matcher(journal).results().map(each -> each.group(1)).toList();
        return IntStream.range(0, all.size())
                .filter(i -> i == 0 || !all.get(i).equals(all.get(i - 1)))
                .mapToObj(all::get)
                .toList();
    }

    private List<String> answers(BatchStore store, String file) throws IOException {
        return Files.readAllLines(store.path(file));
    }

    @Test
    void isValidatedAnsweredAndFinalized() throws Exception {
        try (var store = BatchStore.open(folder, 1 << 20, clock)) {
            Batch batch = batch(store, line("a", "x") + line("b", "y"), 86_400);
            runner(store).start(batch);
            Batch done = ended(store);

            assertThat(states()).containsExactly("validating", "in_progress", "finalizing", "completed");
            assertThat(answers(store, done.outputFile())).hasSize(2);
        }
    }

    /** What is being answered when the time is over is broken off: whoever waits for a place would wait for ever. */
    @Test
    void expiresAndSaysWhatWasNotAnswered() throws Exception {
        try (var store = BatchStore.open(folder, 1 << 20, clock)) {
            Batch batch = batch(store, line("a", "x") + line("b", "slow") + line("c", "y"), 1);
            runner(store).start(batch);
            Batch done = ended(store);

            assertThat(states()).containsExactly("validating", "in_progress", "finalizing", "expired");
            assertThat(answers(store, done.outputFile()))
                    .singleElement()
                    .asString()
                    .contains("\"custom_id\":\"a\"");
            assertThat(answers(store, done.errorFile()))
                    .hasSize(2)
                    .allMatch(each -> each.contains("batch_expired"))
                    .anyMatch(each -> each.contains("\"custom_id\":\"b\""))
                    .anyMatch(each -> each.contains("\"custom_id\":\"c\""));
        }
    }

    @Test
    void beginsNothingWhenItsTimeWasOverBefore() throws Exception {
        try (var store = BatchStore.open(folder, 1 << 20, clock)) {
            Batch batch = batch(store, line("a", "x"), 0);
            runner(store).start(batch);

            assertThat(ended(store).state()).isEqualTo(BatchState.EXPIRED);
            assertThat(begun).isEmpty();
        }
    }

    @Test
    void isCancelledInTheMiddle() throws Exception {
        try (var store = BatchStore.open(folder, 1 << 20, clock)) {
            Batch batch = batch(store, line("a", "x") + line("b", "slow") + line("c", "y"), 86_400);
            BatchRunner runner = runner(store);
            runner.start(batch);
            begun.take();
            begun.take();
            store.cancel("batch_1", "");
            runner.cancelled("batch_1");
            Batch done = ended(store);

            assertThat(states()).containsExactly("validating", "in_progress", "cancelling", "cancelled");
            assertThat(answers(store, done.outputFile())).hasSize(1);
            assertThat(answers(store, done.errorFile())).hasSize(2);
        }
    }

    @Test
    void takesFiftyThousandLinesAndNoMore() throws IOException {
        Path file = folder.resolve("in.jsonl");
        String lines = IntStream.range(0, InputCheck.MAX_LINES)
                .mapToObj(i -> line("" + i, ""))
                .collect(Collectors.joining());
        Files.writeString(file, lines);
        var most = InputCheck.of(file, PATH, 1 << 16);
        assertThat(most.errors()).isEmpty();
        assertThat(most.lines()).isEqualTo(50_000);
        Files.writeString(file, lines + line("one more", ""));
        assertThat(InputCheck.of(file, PATH, 1 << 16).errors())
                .singleElement()
                .extracting(Batch.LineError::code)
                .isEqualTo("too_many_tasks");
    }
}
