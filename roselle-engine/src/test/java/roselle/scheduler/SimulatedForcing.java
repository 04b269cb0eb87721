package roselle.scheduler;

import roselle.backend.step.SamplingRows;
import roselle.batch.TokenConstraint;

/** A constraint that at places which the prefix decides allows only the token that the simulated model would say. */
record SimulatedForcing(String salt, int percent) implements TokenConstraint {
    @Override
    public long[] mask(int[] ids, int length) {
        return SamplingRows.ALL;
    }

    @Override
    public int forcedAfter(int[] ids, int length) {
        long prefix = SimulatedRequest.begin(salt);
        for (int i = 0; i < length; i++) {
            prefix = SimulatedKv.mix(prefix, ids[i]);
        }
        return (prefix >>> 40) % 100 < percent ? SimulatedRequest.nextToken(prefix) : NOT_FORCED;
    }
}
