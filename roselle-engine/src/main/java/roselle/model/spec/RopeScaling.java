package roselle.model.spec;

import java.util.List;

/** How rotary positions are stretched to contexts longer than those of the training. */
public sealed interface RopeScaling {
    /** The base that frequencies are powers of. */
    default double base(double theta, int dimensions, int contextLimit) {
        return theta;
    }

    /** Changes the frequencies of the unscaled base in place. */
    void scale(float[] frequencies, double theta, int contextLimit);

    /** Multiplies sine and cosine. */
    default float attentionFactor() {
        return 1f;
    }

    /** Positions as they are. */
    record None() implements RopeScaling {
        @Override
        public void scale(float[] frequencies, double theta, int contextLimit) {
            // nothing changes
        }
    }

    /** All positions divided by a factor. */
    record Linear(double factor) implements RopeScaling {
        @Override
        public void scale(float[] frequencies, double theta, int contextLimit) {
            for (int i = 0; i < frequencies.length; i++) {
                frequencies[i] = (float) (frequencies[i] / factor);
            }
        }
    }

    /**
     * The first pairs turn, as fast as where all do, and the others stay (Gemma 4): pairs of a part of a head are half the head apart.
     *
     * @param share of the pairs that turn
     */
    record Proportional(double share, double factor) implements RopeScaling {
        public Proportional {
            if (!(share >= 0 && share <= 1) || !(factor > 0)) {
                throw new IllegalArgumentException("cannot turn " + share + " of the pairs, slower by " + factor);
            }
        }

        @Override
        public void scale(float[] frequencies, double theta, int contextLimit) {
            int turning = (int) (share * frequencies.length);
            for (int i = 0; i < frequencies.length; i++) {
                frequencies[i] = i < turning ? (float) (frequencies[i] / factor) : 0f;
            }
        }
    }

    /** A base that grows with the context ("NTK-aware"). */
    record Dynamic(double factor, int trainedContext) implements RopeScaling {
        @Override
        public double base(double theta, int dimensions, int contextLimit) {
            int context = Math.max(contextLimit, trainedContext);
            double stretch = factor * context / trainedContext - (factor - 1);
            return theta * Math.pow(stretch, dimensions / (dimensions - 2.0));
        }

        @Override
        public void scale(float[] frequencies, double theta, int contextLimit) {
            // the base has it all
        }
    }

    /** A base stretched once and for all ("NTK-aware" with a fixed alpha, Hunyuan). */
    record FixedBase(double alpha) implements RopeScaling {
        @Override
        public double base(double theta, int dimensions, int contextLimit) {
            return theta * Math.pow(alpha, dimensions / (dimensions - 2.0));
        }

        @Override
        public void scale(float[] frequencies, double theta, int contextLimit) {
            // the base has it all
        }
    }

    /** Long waves stretched, short ones kept, the ones between mixed (Llama 3.1). */
    record Llama3(double factor, double lowFactor, double highFactor, int trainedContext) implements RopeScaling {
        @Override
        public void scale(float[] frequencies, double theta, int contextLimit) {
            for (int i = 0; i < frequencies.length; i++) {
                double turns = trainedContext * (double) frequencies[i] / (2 * Math.PI);
                double mix = (turns - lowFactor) / (highFactor - lowFactor);
                double kept = Math.clamp(mix, 0, 1);
                frequencies[i] = (float) ((1 - kept) * frequencies[i] / factor + kept * frequencies[i]);
            }
        }
    }

    /** A ramp from stretched to kept frequencies over the number of turns in the trained context (Peng et al., 2023). */
    record Yarn(
            double factor,
            int trainedContext,
            double betaFast,
            double betaSlow,
            boolean truncates,
            float attentionFactor)
            implements RopeScaling {
        @Override
        public void scale(float[] frequencies, double theta, int contextLimit) {
            int dimensions = 2 * frequencies.length;
            double low = pairOf(betaFast, dimensions, theta);
            double high = pairOf(betaSlow, dimensions, theta);
            if (truncates) {
                low = Math.floor(low);
                high = Math.ceil(high);
            }
            low = Math.max(low, 0);
            high = Math.min(high, dimensions - 1);
            double width = high == low ? 0.001 : high - low;
            for (int i = 0; i < frequencies.length; i++) {
                double stretched = Math.clamp((i - low) / width, 0, 1);
                frequencies[i] = (float) (frequencies[i] / factor * stretched + frequencies[i] * (1 - stretched));
            }
        }

        /** The pair, as a real number, that turns so many times in the trained context. */
        private double pairOf(double turns, int dimensions, double theta) {
            return dimensions * Math.log(trainedContext / (turns * 2 * Math.PI)) / (2 * Math.log(theta));
        }
    }

    /** A divisor of its own for each frequency, one list for short and one for long contexts (Ding et al., 2024). */
    record LongRope(List<Float> shortFactors, List<Float> longFactors, int trainedContext, float attentionFactor)
            implements RopeScaling {
        public LongRope {
            shortFactors = List.copyOf(shortFactors);
            longFactors = List.copyOf(longFactors);
        }

        @Override
        public void scale(float[] frequencies, double theta, int contextLimit) {
            List<Float> factors = contextLimit > trainedContext ? longFactors : shortFactors;
            for (int i = 0; i < frequencies.length; i++) {
                frequencies[i] /= factors.get(i);
            }
        }
    }
}
