package roselle.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Messages that quote files and requests stay one line. */
class OneLineTest {
    @Test
    void keepsWhatAFileSpellsOnOneLine() {
        assertThat(new CheckpointException("a.gguf: \r\n\tkey\u2028\u2029\u0085\u001b[31m is 5").getMessage())
                .isEqualTo("a.gguf: \uFFFD  key\uFFFD\uFFFD\uFFFD\uFFFD[31m is 5");
        assertThat(new InvalidRequestException("\u202Eright\u2066\0", new Exception()).getMessage())
                .isEqualTo("\uFFFDright\uFFFD\uFFFD");
    }

    @Test
    void keepsOrdinaryTextAsItIs() {
        String message = "modèle 世界 👩\u200D💻/ग\u200Dक.gguf: a\u00ADb is 1: 'x'";
        assertThat(new CheckpointException(message).getMessage()).isEqualTo(message);
    }

    @Test
    void cutsALongMessage() {
        assertThat(new InvalidRequestException("x".repeat(5_000_000)).getMessage())
                .hasSize(1003)
                .endsWith("x...");
    }
}
