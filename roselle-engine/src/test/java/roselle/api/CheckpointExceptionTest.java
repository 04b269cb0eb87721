package roselle.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CheckpointExceptionTest {
    @Test
    void keepsWhatAFileSpellsOnOneLine() {
        assertThat(new CheckpointException("a.gguf: \r\n\tkey\u2028\u2029\u0085\u001b[31m is 5").getMessage())
                .isEqualTo("a.gguf: \uFFFD\uFFFD\uFFFDkey\uFFFD\uFFFD\uFFFD\uFFFD[31m is 5");
        assertThat(new CheckpointException("\u202Eright\u2066", new Exception()).getMessage())
                .isEqualTo("\uFFFDright\uFFFD");
    }

    @Test
    void keepsOrdinaryTextAsItIs() {
        String message = "modèle 世界 👩\u200D💻/ग\u200Dक.gguf: a\u00ADb is 1: 'x'";
        assertThat(new CheckpointException(message).getMessage()).isEqualTo(message);
    }

    @Test
    void cutsALongMessage() {
        assertThat(new CheckpointException("x".repeat(5_000_000)).getMessage())
                .hasSize(1003)
                .endsWith("x...");
    }
}
