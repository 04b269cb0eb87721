package roselle.engine;

import java.util.Locale;
import roselle.api.InvalidRequestException;

/** Whether a step may be launched before the host has seen the tokens of the one before. */
public enum Overlap {
    /** On for devices that sample tokens. */
    AUTO,
    ON,
    OFF;

    /** What flags call it. */
    public static Overlap of(String name) {
        return switch (name.toLowerCase(Locale.ROOT)) {
            case "auto" -> AUTO;
            case "on" -> ON;
            case "off" -> OFF;
            default -> throw new InvalidRequestException("overlap is " + name + ": it must be auto, on or off");
        };
    }

    /** Whether steps are launched ahead on a device that samples tokens itself, or on one that does not. */
    boolean isOn(boolean samples) {
        return switch (this) {
            case ON -> true;
            case OFF -> false;
            case AUTO -> samples;
        };
    }
}
