package roselle.bench.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.InvalidRequestException;

final class TraceFileTest {
    @TempDir
    private Path folder;

    @Test
    void readsAzuresTimesToTheMicrosecond() throws IOException {
        Trace trace = read("""
                TIMESTAMP,ContextTokens,GeneratedTokens
                2023-11-16 18:15:59.6805900,374,44
                2023-11-16 18:16:00.9951690,396,109
                """);

        assertThat(trace.format()).isEqualTo("azure");
        assertThat(trace.entries().getFirst().arrivalSeconds()).isZero();
        assertThat(trace.entries().getLast().arrivalSeconds()).isCloseTo(1.314579, within(1e-6));
        assertThat(trace.entries().getLast().inputTokens()).isEqualTo(396);
        assertThat(trace.entries().getLast().outputTokens()).isEqualTo(109);
    }

    @Test
    void readsAzuresTimesOf2024WithTheirOffset() throws IOException {
        Trace trace = read("""
                TIMESTAMP,ContextTokens,GeneratedTokens
                2024-05-10 00:00:00.009930+00:00,2162,5
                2024-05-10 00:00:00.017335+00:00,2399,6
                """);

        assertThat(trace.entries().getLast().arrivalSeconds()).isCloseTo(0.007405, within(1e-6));
    }

    /** Files are put together of pieces, and some editors begin them with a mark. */
    @Test
    void readsOnAfterAnEmptyLineAndAMarkAtTheStart() throws IOException {
        Trace csv = read("""
                TIMESTAMP,ContextTokens,GeneratedTokens
                2023-11-16 18:15:59.6805900,374,44

                2023-11-16 18:16:00.9951690,396,109
                """);
        Trace lines = read("""
                \uFEFF{"timestamp": 0, "input_length": 600, "output_length": 500, "hash_ids": [0, 1]}

                {"timestamp": 3052, "input_length": 700, "output_length": 490, "hash_ids": [0, 14]}
                """);

        assertThat(csv.entries()).hasSize(2);
        assertThat(lines.entries()).hasSize(2);
    }

    @Test
    void namesTheLineThatIsWrongAfterAnEmptyOne() {
        assertThatThrownBy(() -> read("TIMESTAMP,ContextTokens,GeneratedTokens\n\n2023-11-16 18:15:59,many,44\n"))
                .hasMessageContaining("line 3");
    }

    @Test
    void readsMooncakesMillisecondsAndBlocks() throws IOException {
        Trace trace = read("""
                {"timestamp": 0, "input_length": 600, "output_length": 500, "hash_ids": [0, 1]}
                {"timestamp": 3052, "input_length": 700, "output_length": 490, "hash_ids": [0, 14]}
                """);

        assertThat(trace.format()).isEqualTo("mooncake");
        assertThat(trace.blockTokens()).isEqualTo(512);
        assertThat(trace.entries().getLast().arrivalSeconds()).isCloseTo(3.052, within(1e-9));
        assertThat(trace.entries().getLast().blocks()).containsExactly(0L, 14L);
    }

    @Test
    void readsBailiansSecondsAndBlocks() throws IOException {
        Trace trace = read("""
                {"chat_id": 159, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 20, "output_length": 132, \
                "type": "text", "turn": 1, "hash_ids": [1089, 1090]}
                {"chat_id": 160, "parent_chat_id": -1, "timestamp": 61.5, "input_length": 17, "output_length": 3, \
                "type": "text", "turn": 1, "hash_ids": [1089, 7]}
                """);

        assertThat(trace.format()).isEqualTo("bailian");
        assertThat(trace.blockTokens()).isEqualTo(16);
        assertThat(trace.entries().getLast().arrivalSeconds()).isCloseTo(0.386, within(1e-9));
    }

    @Test
    void readsBurstGptAndCountsWhatFailedWhenItWasRecorded() throws IOException {
        Trace trace = read("""
                Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
                5,ChatGPT,472,18,490,Conversation log
                45,ChatGPT,1087,0,1087,Conversation log
                118,GPT-4,417,276,693,Conversation log
                """);

        assertThat(trace.format()).isEqualTo("burstgpt");
        assertThat(trace.entries()).hasSize(2);
        assertThat(trace.skipped()).isEqualTo(1);
        assertThat(trace.entries().getLast().arrivalSeconds()).isEqualTo(113);
    }

    @Test
    void sortsByArrival() throws IOException {
        Trace trace = read("""
                TIMESTAMP,ContextTokens,GeneratedTokens
                2023-11-16 18:15:47.0,1,1
                2023-11-16 18:15:46.5,2,1
                """);

        assertThat(trace.entries()).extracting(TraceEntry::inputTokens).containsExactly(2, 1);
        assertThat(trace.entries()).extracting(TraceEntry::arrivalSeconds).containsExactly(0.0, 0.5);
    }

    @Test
    void namesTheLineThatIsWrong() {
        refuses("a,b,c\n1,2,3\n", "line 1: it is the header of no known trace");
        refuses("", "line 1");
        refuses("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,12\n", "line 2: 2 columns");
        refuses("TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday:,12,3\n", "line 2: yesterday: is no date");
        refuses("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,-12,3\n", "-12 is no number of tokens");
        refuses("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,1e99,3\n", "1e99 is no number of tokens");
        refuses("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,NaN,3\n", "NaN is no number");
        refuses(
                "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}\n{\"timestamp\"\n",
                "line 2: it is no JSON");
        refuses("{\"timestamp\": 0, \"output_length\": 1}\n", "line 1: input_length is not there");
        refuses(
                "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [\"x\"]}\n",
                "hash_ids has a value that is no 64-bit integer");
    }

    @Test
    void refusesATraceWithoutRequests() {
        refuses("TIMESTAMP,ContextTokens,GeneratedTokens\n", "has no request");
    }

    private void refuses(String text, String message) {
        assertThatThrownBy(() -> read(text))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message);
    }

    private Trace read(String text) throws IOException {
        return TraceFile.read(Files.writeString(folder.resolve("trace"), text), 100);
    }
}
