package roselle.bench.stage;

import java.util.OptionalDouble;
import roselle.api.InvalidRequestException;

/**
 * Finds the highest rate that a system carries: doubles or halves until the answer changes, then halves the interval (by
 * its geometric mean) until its ends are near each other.
 *
 * @param start the first rate that is tried, in requests per second
 * @param tolerance how far the ends may be apart, as a share
 * @param mostProbes of one search
 */
public record CapacitySearch(double start, double tolerance, int mostProbes) {
    public CapacitySearch {
        if (!(start > 0 && start < 1e6) || !(tolerance > 0.001 && tolerance < 1) || mostProbes < 2) {
            throw new InvalidRequestException("a search from " + start + " requests/s within " + tolerance + " and "
                    + mostProbes
                    + " probes is not possible: the rate is above 0, the share from 0.001 to 1, and there are"
                    + " at least 2 probes");
        }
    }

    /** What a probe says of a rate. */
    public enum Verdict {
        CARRIED,
        REFUSED,
        /** Refused, and any lower rate would be, since its requests hardly met each other. */
        HOPELESS
    }

    /** Tries a rate. */
    public interface Probe {
        Verdict of(double rate) throws InterruptedException;
    }

    /** Why a search ended. */
    public enum Ending {
        NARROW("bounds within tolerance"),
        NEVER_REFUSED("out of probes, and no rate was refused"),
        OUT_OF_PROBES("out of probes"),
        HOPELESS("requests that meet no other break the objective");

        private final String label;

        Ending(String label) {
            this.label = label;
        }

        /** In words. */
        public String label() {
            return label;
        }
    }

    /**
     * What was found.
     *
     * @param carried the highest rate that was seen carried; empty where none was
     * @param refused the lowest that was seen not carried; empty where all were carried
     */
    public record Result(OptionalDouble carried, OptionalDouble refused, Ending ending) {}

    public Result find(Probe probe) throws InterruptedException {
        double low = 0;
        double high = Double.POSITIVE_INFINITY;
        double rate = start;
        boolean isHopeless = false;
        for (int probes = 0; probes < mostProbes && high / low > 1 + tolerance && !isHopeless; probes++) {
            Verdict verdict = probe.of(rate);
            if (verdict == Verdict.CARRIED) {
                low = rate;
            } else {
                high = rate;
            }
            isHopeless = verdict == Verdict.HOPELESS && low == 0;
            rate = low == 0 ? high / 2 : Double.isInfinite(high) ? low * 2 : Math.sqrt(low * high);
        }
        return new Result(
                low == 0 ? OptionalDouble.empty() : OptionalDouble.of(low),
                Double.isInfinite(high) ? OptionalDouble.empty() : OptionalDouble.of(high),
                ending(low, high, isHopeless));
    }

    private Ending ending(double low, double high, boolean isHopeless) {
        if (isHopeless) {
            return Ending.HOPELESS;
        }
        if (Double.isInfinite(high)) {
            return Ending.NEVER_REFUSED;
        }
        return high / low > 1 + tolerance ? Ending.OUT_OF_PROBES : Ending.NARROW;
    }
}
