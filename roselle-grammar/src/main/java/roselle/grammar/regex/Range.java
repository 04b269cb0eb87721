package roselle.grammar.regex;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/** The numbers that are less than a bound, equal to it, or greater. */
record Range(BigDecimal bound, boolean isLess, boolean isEqual, boolean isGreater) {
    Range opposite() {
        return new Range(bound, !isLess, !isEqual, !isGreater);
    }

    /** What several ranges leave between them. */
    static final class Limits {
        private @Nullable BigDecimal low;
        private @Nullable BigDecimal high;
        private boolean isLowIn;
        private boolean isHighIn;

        void add(Range range) {
            if (!range.isLess) {
                raise(range.bound, range.isEqual);
            }
            if (!range.isGreater) {
                lower(range.bound, range.isEqual);
            }
        }

        private void raise(BigDecimal bound, boolean isIn) {
            int order = low == null ? 1 : bound.compareTo(low);
            if (order > 0) {
                low = bound;
                isLowIn = isIn;
            } else if (order == 0) {
                isLowIn &= isIn;
            }
        }

        private void lower(BigDecimal bound, boolean isIn) {
            int order = high == null ? -1 : bound.compareTo(high);
            if (order < 0) {
                high = bound;
                isHighIn = isIn;
            } else if (order == 0) {
                isHighIn &= isIn;
            }
        }

        boolean haveSome() {
            int order = low == null || high == null ? -1 : low.compareTo(high);
            return order < 0 || (order == 0 && isLowIn && isHighIn);
        }
    }
}
