package roselle.cli.report;

import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a number of bytes: {@code 4096}, {@code 512K}, {@code 512M}, {@code 2G}, each also as {@code MB} or {@code MiB}. */
public final class ByteSize implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
        String upper = text.toUpperCase(Locale.ROOT);
        int digits = 0;
        while (digits < upper.length() && Character.isDigit(upper.charAt(digits))) {
            digits++;
        }
        try {
            long count = Long.parseLong(upper.substring(0, digits));
            return Math.multiplyExact(count, unit(upper.substring(digits), text));
        } catch (NumberFormatException | ArithmeticException malformed) {
            throw refusal(text);
        }
    }

    private static long unit(String name, String text) {
        return switch (name) {
            case "", "B" -> 1;
            case "K", "KB", "KIB" -> 1L << 10;
            case "M", "MB", "MIB" -> 1L << 20;
            case "G", "GB", "GIB" -> 1L << 30;
            case "T", "TB", "TIB" -> 1L << 40;
            default -> throw refusal(text);
        };
    }

    private static TypeConversionException refusal(String text) {
        return new TypeConversionException("'" + text + "' is not a size: write a number with K, M or G, such as 512M");
    }
}
