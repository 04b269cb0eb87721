package roselle.api;

import roselle.api.InvalidRequestException.Reason;

/** Range checks whose message names the value and the range. */
final class Check {
    private Check() {}

    static void between(String field, double value, double least, double most) {
        between(field, field, value, least, most);
    }

    /** The same of something that belongs to a field, such as the length of a text: {@code name} says what. */
    static void between(String field, String name, double value, double least, double most) {
        if (!(value >= least && value <= most)) {
            throw outOfRange(
                    field,
                    "%s is %s: it must be between %s and %s".formatted(name, text(value), text(least), text(most)));
        }
    }

    static void atLeast(String field, long value, long least) {
        atLeast(field, field, value, least);
    }

    static void atLeast(String field, String name, long value, long least) {
        if (value < least) {
            throw outOfRange(field, "%s is %d: it must be at least %d".formatted(name, value, least));
        }
    }

    static void atMost(String field, String name, long value, long most) {
        if (value > most) {
            throw outOfRange(field, "%s is %d: it must be at most %d".formatted(name, value, most));
        }
    }

    private static InvalidRequestException outOfRange(String field, String message) {
        return new InvalidRequestException(Reason.OUT_OF_RANGE, field, message);
    }

    private static String text(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15
                ? Long.toString((long) value)
                : Double.toString(value);
    }
}
