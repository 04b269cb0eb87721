package roselle.bench.trace;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import roselle.api.InvalidRequestException;

/** Reads recorded traces: Azure's and BurstGPT's CSV, Mooncake's and Bailian's JSON lines, told apart by the first line. */
public final class TraceFile {
    private static final int LONGEST_LINE = 4 << 20;

    private final Path path;
    private final List<TraceEntry> entries = new ArrayList<>();
    private int skipped;
    private int line = 1;

    private TraceFile(Path path) {
        this.path = path;
    }

    /** The first {@code count} requests of a file. */
    public static Trace read(Path path, int count) {
        var file = new TraceFile(path);
        if (Files.isDirectory(path)) {
            throw new InvalidRequestException(path + " is a folder: name the trace's file");
        }
        try (BufferedReader reader = Files.newBufferedReader(path, StandardCharsets.UTF_8)) {
            return file.read(reader, count);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        } catch (InvalidRequestException wrong) {
            throw new InvalidRequestException(path + ", line " + file.line + ": " + wrong.getMessage(), wrong);
        }
    }

    private Trace read(BufferedReader reader, int count) throws IOException {
        String first = withoutMark(nextLine(reader).orElse(""));
        TraceRow layout = layout(first);
        if (first.startsWith("{")) {
            add(layout, first);
        }
        while (entries.size() < count) {
            Optional<String> row = nextLine(reader);
            if (row.isEmpty()) {
                break;
            }
            line++;
            row.filter(text -> !text.isEmpty()).ifPresent(text -> add(layout, text));
        }
        return new Trace(
                String.valueOf(path.getFileName()), layout.format(), blockTokens(layout), fromFirst(entries), skipped);
    }

    /** A line without blanks around it, which may leave nothing; empty at the end of the file. */
    private static Optional<String> nextLine(BufferedReader reader) throws IOException {
        var text = new StringBuilder();
        int character = reader.read();
        boolean isEnd = character < 0;
        for (; character >= 0 && character != '\n'; character = reader.read()) {
            if (text.length() == LONGEST_LINE) {
                throw new InvalidRequestException("it is longer than " + LONGEST_LINE + " characters");
            }
            text.append((char) character);
        }
        return isEnd ? Optional.empty() : Optional.of(text.toString().strip());
    }

    private static String withoutMark(String first) {
        return first.startsWith("\uFEFF") ? first.substring(1) : first;
    }

    private static TraceRow layout(String start) {
        return start.startsWith("{")
                ? JsonLine.of(start)
                : TraceRow.ofHeader(start).orElseThrow(TraceFile::unknown);
    }

    private static InvalidRequestException unknown() {
        return new InvalidRequestException("it is the header of no known trace: those are Azure's CSV (TIMESTAMP,"
                + "ContextTokens,GeneratedTokens), BurstGPT's CSV (Timestamp, …, Request tokens, Response tokens, …), and"
                + " JSON lines with timestamp, input_length, output_length and hash_ids (Mooncake, Bailian)");
    }

    private void add(TraceRow layout, String row) {
        layout.read(row).ifPresentOrElse(entries::add, () -> skipped++);
    }

    private int blockTokens(TraceRow layout) {
        boolean hasBlocks = entries.stream().noneMatch(entry -> entry.blocks().isEmpty());
        return hasBlocks ? layout.blockTokens() : 0;
    }

    private static List<TraceEntry> fromFirst(List<TraceEntry> entries) {
        double first =
                entries.stream().mapToDouble(TraceEntry::arrivalSeconds).min().orElse(0);
        return entries.stream()
                .sorted(Comparator.comparingDouble(TraceEntry::arrivalSeconds))
                .map(entry -> entry.arrivingAt(entry.arrivalSeconds() - first))
                .toList();
    }
}
