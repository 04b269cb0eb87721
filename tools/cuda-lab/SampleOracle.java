import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import roselle.api.GenerationRequest;
import roselle.api.OutputOptions;
import roselle.backend.step.SampledTokens;
import roselle.backend.step.SamplingRows;
import roselle.batch.SamplingPlan;
import roselle.sampling.Sampler;

/** Samples the cases that sample.py wrote with the engine's own sampler: java -cp CLASSES SampleOracle.java CASES RESULTS. */
final class SampleOracle {
    private final ByteBuffer in;
    private final ByteBuffer out;

    private SampleOracle(ByteBuffer in, ByteBuffer out) {
        this.in = in;
        this.out = out;
    }

    public static void main(String[] arguments) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(Path.of(arguments[0]))).order(ByteOrder.LITTLE_ENDIAN);
        int cases = in.getInt();
        ByteBuffer out = ByteBuffer.allocate(cases * 176).order(ByteOrder.LITTLE_ENDIAN);
        var oracle = new SampleOracle(in, out);
        for (int i = 0; i < cases; i++) {
            oracle.one();
        }
        Files.write(Path.of(arguments[1]), out.array());
    }

    private void one() {
        int vocabulary = in.getInt();
        double temperature = in.getDouble();
        double topP = in.getDouble();
        double minP = in.getDouble();
        double repetition = in.getDouble();
        double presence = in.getDouble();
        double frequency = in.getDouble();
        long seed = in.getLong();
        int topK = in.getInt();
        int promptLength = in.getInt();
        int topLogprobs = in.getInt();
        int minTokens = in.getInt();
        int[] history = ints();
        Map<Integer, Float> bias = new HashMap<>();
        for (int count = in.getInt(); count > 0; count--) {
            bias.put(in.getInt(), in.getFloat());
        }
        Set<Integer> stops = new HashSet<>();
        for (int id : ints()) {
            stops.add(id);
        }
        int[] allowed = ints();
        float[] logits = new float[vocabulary];
        for (int i = 0; i < vocabulary; i++) {
            logits[i] = in.getFloat();
        }
        var request = GenerationRequest.builder()
                .tokens(0)
                .temperature(temperature)
                .topK(topK)
                .topP(topP)
                .minP(minP)
                .repetitionPenalty(repetition)
                .presencePenalty(presence)
                .frequencyPenalty(frequency)
                .logitBias(bias)
                .maxTokens(1 << 20)
                .minTokens(minTokens)
                .stopTokenIds(stops)
                .output(new OutputOptions(1, topLogprobs >= 0, Math.max(0, topLogprobs), false))
                .build();
        var plan = SamplingPlan.of(request, new int[0], vocabulary, seed, 0);
        var rows = new SamplingRows(1, 0);
        rows.begin(1);
        plan.fill(rows, 0, history, promptLength, history.length);
        rows.mask[0] = mask(vocabulary, allowed);
        write(vocabulary, logits, rows);
    }

    private int[] ints() {
        int[] numbers = new int[in.getInt()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = in.getInt();
        }
        return numbers;
    }

    private static long[] mask(int vocabulary, int[] allowed) {
        if (allowed.length == 0) {
            return SamplingRows.ALL;
        }
        var mask = new long[(vocabulary + 63) / 64];
        for (int id : allowed) {
            mask[id / 64] |= 1L << id % 64;
        }
        return mask;
    }

    /** The bytes of the kernel's SampleResult. */
    private void write(int vocabulary, float[] logits, SamplingRows rows) {
        var sampler = new Sampler(vocabulary);
        int token = sampler.sample(MemorySegment.ofArray(logits), 0, rows, 0, new SampledTokens(1));
        int end = out.position() + 176;
        boolean reports = token >= 0 && rows.topLogprobs[0] != SamplingRows.NO_LOGPROBS;
        var report = sampler.report();
        out.putInt(token).putInt(token < 0 ? 1 : 0).putFloat(reports ? report.chosen() : 0f);
        out.putInt(reports ? report.count() : 0);
        for (int i = 0; reports && i < report.count(); i++) {
            out.putInt(out.position(), report.id(i));
            out.putFloat(out.position() + 80, report.logprob(i));
            out.position(out.position() + 4);
        }
        out.position(end);
    }
}
