package roselle.cli.report;

import java.util.Locale;

/** A number of bytes as people read it, in powers of 1000 as disks and the hub count. */
public final class ByteCount {
    private static final String[] UNITS = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};

    private ByteCount() {}

    public static String of(long bytes) {
        double scaled = bytes;
        int unit = 0;
        while (scaled >= 999.95 && unit < UNITS.length - 1) {
            scaled /= 1000;
            unit++;
        }
        return String.format(Locale.ROOT, unit == 0 ? "%.0f %s" : "%.1f %s", scaled, UNITS[unit]);
    }
}
