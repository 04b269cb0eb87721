package roselle.tokenizer.format;

import java.util.Arrays;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** As many seeded mutations of good files as take about a second each; a failure prints the seed. */
class TokenizerFuzzTest {
    private static final int INPUTS = 5_000;

    @Test
    void mutatedJsonIsRefusedOrWorks() {
        run(TokenizerFixture.json("word-level"), 1, TokenizerJsonFuzzTarget::fuzzerTestOneInput);
        run(TokenizerFixture.json("ctc"), 2, TokenizerJsonFuzzTarget::fuzzerTestOneInput);
    }

    @Test
    void mutatedSentencePieceModelIsRefusedOrWorks() {
        run(
                TokenizerFixture.resource("/sentencepiece/bpe-unknown.model.gz"),
                3,
                SentencePieceFuzzTarget::fuzzerTestOneInput);
    }

    private static void run(byte[] good, long seed, Consumer<byte[]> target) {
        var random = new Random(seed);
        for (int number = 0; number < INPUTS; number++) {
            byte[] input = mutated(good, random);
            try {
                target.accept(input);
            } catch (RuntimeException escaped) {
                throw new AssertionError("seed " + seed + ", input " + number + ": " + escaped, escaped);
            }
        }
    }

    private static byte[] mutated(byte[] good, Random random) {
        byte[] input = random.nextInt(4) == 0 ? Arrays.copyOf(good, random.nextInt(good.length)) : good.clone();
        int changes = 1 + random.nextInt(6);
        for (int i = 0; i < changes && input.length > 0; i++) {
            int at = random.nextInt(random.nextBoolean() ? input.length : Math.min(300, input.length));
            switch (random.nextInt(3)) {
                case 0 -> input[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> input[at] = (byte) random.nextInt(256);
                default -> {
                    int from = random.nextInt(input.length);
                    int length = Math.min(random.nextInt(40), input.length - Math.max(from, at));
                    System.arraycopy(input, from, input, at, length);
                }
            }
        }
        return input;
    }
}
