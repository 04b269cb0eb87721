package roselle.api;

/** Range checks whose message names the field, the value and the range. */
final class Check {
    private Check() {}

    static void between(String field, double value, double least, double most) {
        if (!(value >= least && value <= most)) {
            throw new InvalidRequestException(
                    "%s is %s: it must be between %s and %s".formatted(field, text(value), text(least), text(most)));
        }
    }

    static void atLeast(String field, long value, long least) {
        if (value < least) {
            throw new InvalidRequestException("%s is %d: it must be at least %d".formatted(field, value, least));
        }
    }

    static void atMost(String field, long value, long most) {
        if (value > most) {
            throw new InvalidRequestException("%s is %d: it must be at most %d".formatted(field, value, most));
        }
    }

    private static String text(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15
                ? Long.toString((long) value)
                : Double.toString(value);
    }
}
