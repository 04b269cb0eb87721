package roselle.cpu.path;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Measures products in turns until the time is up: the least time of each counts, because whatever else the machine does
 * only makes it longer.
 */
final class PathMeter {
    /** Of each product, whatever the time: less would measure cold code. */
    static final int LEAST_TURNS = 4;

    /** What is measured. */
    interface Product {
        /** Multiplies many rows; how many multiply-adds that were. */
        long prompt();

        /** Multiplies one row; how many multiply-adds that were. */
        long decode();
    }

    private final LongSupplier nanos;
    private final long limitNanos;

    /** Measures for so long by a clock. */
    PathMeter(LongSupplier nanos, long limitNanos) {
        this.nanos = nanos;
        this.limitNanos = limitNanos;
    }

    /** Rates of products, under the labels of what they stand for. */
    List<PathRates> measure(List<String> labels, List<? extends Product> products) {
        int count = products.size();
        var prompt = new double[count];
        var decode = new double[count];
        long deadline = nanos.getAsLong() + limitNanos;
        for (int turn = 0; turn < LEAST_TURNS || nanos.getAsLong() - deadline < 0; turn++) {
            for (int i = 0; i < count; i++) {
                long start = nanos.getAsLong();
                long many = products.get(i).prompt();
                long middle = nanos.getAsLong();
                long one = products.get(i).decode();
                long end = nanos.getAsLong();
                prompt[i] = Math.max(prompt[i], rate(many, middle - start));
                decode[i] = Math.max(decode[i], rate(one, end - middle));
            }
        }
        var rates = new ArrayList<PathRates>();
        for (int i = 0; i < count; i++) {
            rates.add(new PathRates(labels.get(i), prompt[i], decode[i]));
        }
        return rates;
    }

    private static double rate(long products, long nanos) {
        return products * 1e9 / Math.max(1, nanos);
    }
}
