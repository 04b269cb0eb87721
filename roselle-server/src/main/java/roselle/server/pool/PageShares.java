package roselle.server.pool;

import java.util.ArrayList;
import java.util.List;

/**
 * Who of the models that are loaded has how much of their common memory; pure.
 *
 * <p>Each has what it is guaranteed. The rest goes to those that want more, by their shares, until each has what it wants (max-min
 * fairness with weights); what nobody wants stays where it is, because it may remember prompts.
 */
final class PageShares {
    private PageShares() {}

    /**
     * A model that is loaded.
     *
     * @param guaranteed bytes that it always has
     * @param most bytes that it can use
     * @param has bytes that it has now
     * @param wants bytes that it could use now
     * @param share its part of what several want, in relation to theirs
     */
    record Holder(long guaranteed, long most, long has, long wants, double share) {
        private long wanted() {
            return Math.clamp(wants, guaranteed, most);
        }
    }

    /** Bytes for each of them, in their order; {@code bytes} in all at most, unless the guarantees are more. */
    static List<Long> targets(List<Holder> holders, long bytes) {
        long[] given = holders.stream().mapToLong(Holder::guaranteed).toArray();
        long left = bytes;
        for (long each : given) {
            left -= each;
        }
        left = fill(holders, given, holders.stream().mapToLong(Holder::wanted).toArray(), left);
        long[] kept = holders.stream()
                .mapToLong(holder -> Math.min(holder.most, Math.max(holder.has, holder.wanted())))
                .toArray();
        fill(holders, given, kept, left);
        var targets = new ArrayList<Long>();
        for (long each : given) {
            targets.add(each);
        }
        return targets;
    }

    /** Fills all up to their limits, by their shares, as far as it reaches; returns what is left. */
    private static long fill(List<Holder> holders, long[] given, long[] limits, long bytes) {
        long left = bytes;
        double shares = 1;
        while (left > 0 && shares > 0) {
            shares = 0;
            for (int index = 0; index < given.length; index++) {
                shares += given[index] < limits[index] ? holders.get(index).share : 0;
            }
            long round = left;
            for (int index = 0; index < given.length && shares > 0; index++) {
                long part = (long) Math.ceil(round * holders.get(index).share / shares);
                long more = Math.max(0, Math.min(Math.min(part, left), limits[index] - given[index]));
                given[index] += more;
                left -= more;
            }
        }
        return left;
    }
}
