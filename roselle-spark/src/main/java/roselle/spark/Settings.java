package roselle.spark;

import java.io.Serial;
import java.io.Serializable;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import roselle.api.InvalidRequestException;

/** Values of settings as a user gave them, checked for their names; what was not given has its default. */
final class Settings implements Serializable {
    @Serial
    private static final long serialVersionUID = 1L;

    private final EnumMap<Setting, String> values;

    private Settings(EnumMap<Setting, String> values) {
        this.values = values;
    }

    /**
     * Reads options by their names, whose case does not matter, as Spark has it.
     *
     * @throws InvalidRequestException if there is a name that is not known here
     */
    static Settings of(Map<String, String> options, Set<Setting> known) {
        var values = new EnumMap<Setting, String>(Setting.class);
        options.forEach((name, value) -> values.put(named(name, known), value));
        var settings = new Settings(values);
        if (!settings.has(Setting.MODEL)) {
            throw new InvalidRequestException(
                    "the option model is missing: it names the model, such as demo or a path");
        }
        return settings;
    }

    private static Setting named(String name, Set<Setting> known) {
        return known.stream()
                .filter(each -> each.key().equalsIgnoreCase(name))
                .findFirst()
                .orElseThrow(() -> new InvalidRequestException("there is no option " + name + "; there are: "
                        + known.stream().map(Setting::key).sorted().collect(Collectors.joining(", "))));
    }

    String text(Setting setting) {
        return values.getOrDefault(setting, setting.standard());
    }

    boolean has(Setting setting) {
        return !text(setting).isEmpty();
    }

    int whole(Setting setting) {
        return (int) number(setting, 0, Integer.MAX_VALUE);
    }

    long size(Setting setting) {
        return number(setting, 0, Long.MAX_VALUE);
    }

    long number(Setting setting, long least, long most) {
        String text = text(setting);
        try {
            long value = Long.parseLong(text.strip());
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException _) {
            // told below
        }
        throw new InvalidRequestException(
                setting.key() + " is " + text + ": it must be a whole number of at least " + least);
    }

    double fraction(Setting setting) {
        try {
            return Double.parseDouble(text(setting).strip());
        } catch (NumberFormatException _) {
            throw new InvalidRequestException(setting.key() + " is " + text(setting) + ": it must be a number");
        }
    }

    boolean flag(Setting setting) {
        return switch (text(setting)) {
            case "true" -> true;
            case "false" -> false;
            default ->
                throw new InvalidRequestException(
                        setting.key() + " is " + text(setting) + ": it must be true or false");
        };
    }

    Duration seconds(Setting setting) {
        double seconds = fraction(setting);
        if (!(seconds >= 0 && seconds <= 1e7)) {
            throw new InvalidRequestException(
                    setting.key() + " is " + text(setting) + ": it must be between 0 and 10000000");
        }
        return Duration.ofNanos((long) (seconds * 1e9));
    }

    /** Whether what a row is to blame for fails the job. */
    boolean failsOnError() {
        return switch (text(Setting.ON_ERROR)) {
            case "fail" -> true;
            case "row" -> false;
            default ->
                throw new InvalidRequestException("onError is " + text(Setting.ON_ERROR) + ": it must be row or fail");
        };
    }

    long aheadBytes() {
        return number(Setting.AHEAD_MIB, 1, 1 << 20) << 20;
    }
}
