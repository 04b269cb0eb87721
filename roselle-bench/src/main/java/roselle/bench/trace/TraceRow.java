package roselle.bench.trace;

import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Optional;
import roselle.api.InvalidRequestException;

/** The layouts of trace files: each turns a line into a request. */
interface TraceRow {
    /** A line's request with its absolute time; empty for one that failed when it was recorded. */
    Optional<TraceEntry> read(String line);

    String format();

    /** Tokens of a named block; 0 where the layout has none. */
    int blockTokens();

    /** The layout of a CSV file by its first line; empty where no layout has these columns. */
    static Optional<TraceRow> ofHeader(String header) {
        String[] columns = header.strip().split(",", -1);
        return Csv.of("azure", columns, "TIMESTAMP", "ContextTokens", "GeneratedTokens")
                .or(() -> Csv.of("burstgpt", columns, "Timestamp", "Request tokens", "Response tokens"));
    }

    /** Comma-separated columns, of which three count; no known trace quotes a value. */
    record Csv(String format, int columns, int time, int input, int output) implements TraceRow {
        static Optional<TraceRow> of(String format, String[] header, String... names) {
            int[] places = Arrays.stream(names)
                    .mapToInt(name -> Arrays.asList(header).indexOf(name))
                    .toArray();
            return Arrays.stream(places).anyMatch(place -> place < 0)
                    ? Optional.empty()
                    : Optional.of(new Csv(format, header.length, places[0], places[1], places[2]));
        }

        @Override
        public Optional<TraceEntry> read(String line) {
            String[] values = line.split(",", -1);
            if (values.length != columns) {
                throw new InvalidRequestException(values.length + " columns where the header has " + columns);
            }
            int inputTokens = tokens(values[input]);
            int outputTokens = tokens(values[output]);
            double seconds = seconds(values[time]);
            return inputTokens == 0 || outputTokens == 0
                    ? Optional.empty()
                    : Optional.of(new TraceEntry(seconds, inputTokens, outputTokens, TraceEntry.NO_BLOCKS));
        }

        @Override
        public int blockTokens() {
            return 0;
        }

        private static int tokens(String text) {
            double value = number(text);
            if (value < 0 || value > JsonLine.MAX_TOKENS || value != Math.rint(value)) {
                throw new InvalidRequestException(text + " is no number of tokens");
            }
            return (int) value;
        }

        /** A number of seconds, or a date and a time with up to nine digits of a second and perhaps an offset. */
        private static double seconds(String text) {
            return text.indexOf(':') < 0 ? number(text) : moment(text.strip());
        }

        private static double moment(String text) {
            int end = text.endsWith("Z") ? text.length() - 1 : offsetStart(text);
            try {
                var time = LocalDateTime.parse(text.substring(0, end).replace(' ', 'T'));
                var instant = time.toInstant(ZoneOffset.UTC);
                return instant.getEpochSecond() + instant.getNano() / 1e9;
            } catch (DateTimeException malformed) {
                throw new InvalidRequestException(text + " is no date and time", malformed);
            }
        }

        /** All rows have the same offset, and only differences count. */
        private static int offsetStart(String text) {
            int plus = text.lastIndexOf('+');
            return plus < 0 ? text.length() : plus;
        }

        private static double number(String text) {
            try {
                double value = Double.parseDouble(text.strip());
                if (Double.isFinite(value)) {
                    return value;
                }
            } catch (NumberFormatException _) {
                // said below, with the value
            }
            throw new InvalidRequestException(
                    (text.length() > 40 ? text.substring(0, 40) + "…" : text) + " is no number");
        }
    }
}
