package roselle.bench;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import roselle.checkpoint.path.Checkpoints;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.Tokenizer;

/** Seconds for one piece of ten million characters without a space, with GPT-2's vocabulary, on one thread. */
@State(Scope.Thread)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 2)
@Measurement(iterations = 6)
@Fork(value = 1, jvmArgsAppend = "--add-modules=jdk.incubator.vector")
public class LongPieceBenchmark {
    private static final int CHARACTERS = 10_000_000;

    @Param({"random letters", "one letter"})
    private String kind = "";

    private String text = "";
    private List<Tokenizer> tokenizer = List.of(); // one, once loaded

    @Setup
    public void load() {
        var random = new Random(5);
        var letters = new StringBuilder(CHARACTERS);
        for (int i = 0; i < CHARACTERS; i++) {
            letters.append((char) ('a' + (kind.equals("one letter") ? 0 : random.nextInt(26))));
        }
        text = letters.toString();
        try (var checkpoint = Checkpoints.open(Path.of("../shared/data/vocab/ggml-vocab-gpt-2.gguf"))) {
            tokenizer = List.of(checkpoint.tokenizer());
        }
    }

    @Benchmark
    public int[] encode() {
        return tokenizer.getFirst().encode(text, EncodeOptions.PLAIN);
    }
}
