package roselle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.cli.Main;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code roselle batch} on the demo model. */
final class BatchCommandTest {
    private final StringWriter errors = new StringWriter();

    @TempDir
    private Path folder;

    private Path input = Path.of("");
    private Path output = Path.of("");

    private static String line(int number, int tokens) {
        return "{\"custom_id\":\"id-" + number
                + "\",\"method\":\"POST\",\"url\":\"/v1/completions\",\"body\":{\"prompt\":\"a" + number
                + "\",\"max_tokens\":" + tokens + ",\"ignore_eos\":true,\"temperature\":0}}\n";
    }

    private void write(int lines, int tokens) throws IOException {
        input = Files.writeString(
                folder.resolve("in.jsonl"),
                IntStream.range(0, lines).mapToObj(i -> line(i, tokens)).reduce("", String::concat));
        output = folder.resolve("out.jsonl");
    }

    private int run() {
        return Main.commandLine("batch")
                .setErr(new PrintWriter(errors, true))
                .execute("batch", "demo", input.toString(), output.toString());
    }

    private static List<JsonNode> answers(Path file) throws IOException {
        var mapper = new JsonMapper();
        return Files.readAllLines(file).stream().map(mapper::readTree).toList();
    }

    private static List<String> ids(List<JsonNode> answers) {
        return answers.stream().map(each -> each.get("custom_id").stringValue()).toList();
    }

    @Test
    void answersEachLineInItsOrder() throws IOException {
        write(3, 2);
        Files.writeString(
                input, line(9, 0).replace("\"temperature\":0", "\"temperature\":-1"), StandardOpenOption.APPEND);

        assertThat(run()).as(errors.toString()).isZero();
        assertThat(ids(answers(output))).containsExactly("id-0", "id-1", "id-2", "id-9");
        assertThat(answers(output).getLast().at("/response/status_code").intValue())
                .isEqualTo(400);
        assertThat(errors.toString()).contains("4 of 4 requests, 1 failed");
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left).containsExactlyInAnyOrder(input, output);
        }
        assertThat(run()).isEqualTo(65);
        assertThat(errors.toString()).contains("out.jsonl is there");
    }

    @Test
    void refusesAFileWithALineThatIsNoRequest() throws IOException {
        write(1, 1);
        Files.writeString(input, line(0, 1) + line(0, 1));

        assertThat(run()).isEqualTo(65);
        assertThat(errors.toString()).contains("in.jsonl line 2: the custom_id is that of an earlier line");
        assertThat(output).doesNotExist();
    }

    /** What had an answer when the process was killed keeps it: the ids of answers are drawn at random. */
    @Test
    @Tag("long")
    void goesOnWhereAProcessWasKilled() throws Exception {
        write(160, 40);
        Process killed = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--add-modules",
                        "jdk.incubator.vector",
                        "-Xmx1g",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "batch",
                        "demo",
                        input.toString(),
                        output.toString())
                .redirectError(folder.resolve("errors").toFile())
                .start();
        while (kept().isEmpty() && killed.isAlive()) {
            LockSupport.parkNanos(1_000_000);
        }
        killed.destroyForcibly();
        assertThat(killed.waitFor(60, TimeUnit.SECONDS)).isTrue();
        List<String> before = kept();
        assertThat(before).isNotEmpty();
        assertThat(output).doesNotExist();

        assertThat(run()).as(errors.toString()).isZero();
        List<JsonNode> answers = answers(output);
        assertThat(ids(answers))
                .isEqualTo(IntStream.range(0, 160).mapToObj(i -> "id-" + i).toList());
        assertThat(answers.stream().map(each -> each.get("id").stringValue())).containsAll(before);
    }

    /** The ids of the answers that are kept whole. */
    private List<String> kept() throws IOException {
        var ids = new ArrayList<String>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                if (file.getFileName().toString().endsWith(".part")) {
                    String text = Files.readString(file);
                    text.substring(0, text.lastIndexOf('\n') + 1)
                            .lines()
                            .map(line -> line.replaceFirst(".*\"id\":\"(batch_req_[0-9a-f]+)\".*", "$1"))
                            .forEach(ids::add);
                }
            }
        }
        return ids;
    }
}
